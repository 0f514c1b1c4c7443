internal import CallCheck
internal import Media

extension LoadReport {
  /// Computes the report from the records of all publishers and viewers.
  ///
  /// - Parameters:
  ///   - records: One for each of them: those of the publishers, then those of the viewers.
  ///   - publishers: The number of publishers requested.
  ///   - sendsData: Whether publishers send messages on data channels.
  ///   - seconds: Since the last participant started, or since the beginning if some have not started.
  ///   - before: The counters of each of them until then; empty for none.
  package init(
    records: [ParticipantRecord], publishers: Int, room: String, server: String, source: String,
    sendsData: Bool = false, seconds: Double, before: [ParticipantRecord.Totals], lateness: Lateness
  ) {
    let rows = records.indices.map { index in
      MeasuredParticipant(
        record: records[index], before: index < before.count ? before[index] : .init(), seconds: seconds)
    }
    let (publishing, viewing) = (rows.prefix(publishers), rows.dropFirst(publishers))
    let all = publishing.map(\.record)
    let totals = publishing.totals
    let received = rows.totals
    self.init(
      room: room, server: server, source: source, publishers: publishers,
      started: all.count(where: \.hasStarted), joined: all.count(where: \.hasJoined),
      connected: all.count(where: \.hasConnected), connections: all.reduce(0) { $0 + $1.connections },
      seconds: seconds,
      joinTime: Self.milliseconds(all.compactMap(\.joinTime)),
      connectTime: Self.milliseconds(all.flatMap(\.connectTimes)),
      roundTripTime: Self.milliseconds(records.flatMap(\.roundTripTimes)),
      sent: Sent(totals, before: publishing.totalsBefore, seconds: seconds),
      lost: Lost(totals.packetsLost, of: totals.packetsSent, reports: totals.receptionReports),
      keyframeRequests: totals.keyframeRequests,
      received: Received(
        frames: received.framesReceived, packets: received.packetsReceived, bytes: received.bytesReceived),
      viewers: viewing.isEmpty ? nil : Viewers(viewing, seconds: seconds),
      data: sendsData ? Self.data(all.flatMap(\.data)) : nil,
      lateness: totals.packetsSent > 0 ? lateness.quantile(0.99) : nil,
      failures: Self.counted(
        records.flatMap { $0.failures.counts.map { ($0.key, $0.value) } },
        others: records.reduce(0) { $0 + $1.failures.others }, "Other failures."),
      refused: Self.counted(records.flatMap(\.partialRefusals).map { ($0, 1) }, "Other refusals."),
      eachPublisher: publishing.enumerated().map { Participant($1, number: $0 + 1, isViewer: false) },
      eachViewer: viewing.enumerated().map { Participant($1, number: $0 + 1, isViewer: true) })
  }

  /// Adds up counts of sentences; the most frequent is the first.
  ///
  /// - Parameters:
  ///   - others: The number of those that are only counted.
  ///   - rest: The sentence for these and for those beyond the maximum, which is the last.
  private static func counted(_ sentences: [(String, Int)], others: Int = 0, _ rest: String) -> [Failure] {
    var reasons: [String: Int] = [:]
    for (sentence, count) in sentences { reasons[sentence, default: 0] += count }
    let sorted = reasons.map { Failure(reason: $0.key, count: $0.value) }
      .sorted { ($1.count, $0.reason) < ($0.count, $1.reason) }
    let left = sorted.dropFirst(SentenceCounts.maximumSentences).reduce(others) { $0 + $1.count }
    return sorted.prefix(SentenceCounts.maximumSentences) + (left > 0 ? [Failure(reason: rest, count: left)] : [])
  }

  private static func data(_ reports: [DataReport]) -> DataTotals {
    func sum(_ count: KeyPath<DataReport, Int>) -> Int { reports.reduce(0) { $0 + $1[keyPath: count] } }
    return DataTotals(
      opened: reports.count { $0.open != nil }, sent: sum(\.sent), returned: sum(\.returned), lost: sum(\.lost),
      disordered: sum(\.disordered), throughput: reports.reduce(0) { $0 + ($1.throughput ?? 0) },
      roundTripTime: milliseconds(reports.compactMap(\.roundTrip?.p50)))
  }

  fileprivate static func milliseconds(_ seconds: [Double]) -> Distribution? {
    Distribution(seconds.compactMap(milliseconds))
  }

  /// Rounds to tenths, the useful precision.
  fileprivate static func milliseconds(_ seconds: Double?) -> Double? {
    seconds.map { ($0 * 10_000).rounded() / 10 }
  }
}

/// A record with the counters before the steady part of the load.
private struct MeasuredParticipant {
  let record: ParticipantRecord
  let before: ParticipantRecord.Totals
  /// The duration of the steady part.
  let seconds: Double

  /// The bitrate of what was received in the steady part.
  var receivedBitrate: Double {
    LoadReport.bitrate(record.totals.bytesReceived, before: before.bytesReceived, seconds: seconds)
  }
}

extension Collection<MeasuredParticipant> {
  fileprivate var totals: ParticipantRecord.Totals { reduce(into: .init()) { $0 += $1.record.totals } }
  fileprivate var totalsBefore: ParticipantRecord.Totals { reduce(into: .init()) { $0 += $1.before } }
}

extension LoadReport {
  fileprivate static func bitrate(_ bytes: UInt64, before: UInt64, seconds: Double) -> Double {
    seconds > 0 ? Double(bytes - Swift.min(before, bytes)) * 8 / seconds : 0
  }
}

extension LoadReport.Sent {
  fileprivate init(_ totals: ParticipantRecord.Totals, before: ParticipantRecord.Totals, seconds: Double) {
    self.init(
      frames: totals.framesSent, packets: totals.packetsSent, bytes: totals.bytesSent,
      bitrate: LoadReport.bitrate(totals.bytesSent, before: before.bytesSent, seconds: seconds))
  }
}

extension LoadReport.Lost {
  fileprivate init(_ packets: UInt64, of all: UInt64, reports: UInt64? = nil) {
    self.init(packets: packets, fraction: all > 0 ? min(1, Double(packets) / Double(all)) : 0, reports: reports)
  }
}

extension LoadReport.Reception {
  /// - Parameter logs: What the viewers received beyond their counters.
  fileprivate init(_ totals: ParticipantRecord.Totals, _ logs: [ReceptionLog], bitrate: Double) {
    self.init(
      frames: totals.framesReceived, packets: totals.packetsReceived, bytes: totals.bytesReceived, bitrate: bitrate,
      lost: .init(totals.packetsMissing, of: totals.packetsReceived + totals.packetsMissing),
      recovered: totals.packetsRecovered, freezes: logs.reduce(0) { $0 + $1.freezes },
      frozenTime: LoadReport.milliseconds(logs.reduce(0) { $0 + $1.frozenTime }) ?? 0,
      longestFreeze: LoadReport.milliseconds(logs.map(\.longestFreeze).max()) ?? 0)
  }
}

extension LoadReport.Viewers {
  fileprivate init(_ viewers: ArraySlice<MeasuredParticipant>, seconds: Double) {
    let records = viewers.map(\.record)
    let (totals, before) = (viewers.totals, viewers.totalsBefore)
    self.init(
      requested: records.count, started: records.count(where: \.hasStarted), joined: records.count(where: \.hasJoined),
      connected: records.count(where: \.hasConnected), receiving: records.count { $0.reception?.firstFrame != nil },
      receivingVideo: records.count { $0.reception?.hasVideo == true },
      joinTime: LoadReport.milliseconds(records.compactMap(\.joinTime)),
      connectTime: LoadReport.milliseconds(records.flatMap(\.connectTimes)),
      firstFrameTime: LoadReport.milliseconds(records.compactMap(\.firstFrameTime)),
      received: LoadReport.Reception(
        totals, records.compactMap(\.reception),
        bitrate: LoadReport.bitrate(totals.bytesReceived, before: before.bytesReceived, seconds: seconds)),
      lowestBitrate: viewers.filter(\.record.hasStarted).map(\.receivedBitrate).min())
  }
}

extension LoadReport.Participant {
  fileprivate init(_ participant: MeasuredParticipant, number: Int, isViewer: Bool) {
    let record = participant.record
    let totals = record.totals
    let receives = isViewer || totals.packetsReceived > 0
    self.init(
      number: number, id: record.id?.text, joinTime: LoadReport.milliseconds(record.joinTime),
      connectTime: LoadReport.milliseconds(record.connectTimes.first),
      firstFrameTime: LoadReport.milliseconds(record.firstFrameTime),
      peers: record.peers.count, connections: record.connections,
      sent: isViewer ? nil : .init(totals, before: participant.before, seconds: participant.seconds),
      lost: isViewer ? nil : .init(totals.packetsLost, of: totals.packetsSent, reports: totals.receptionReports),
      keyframeRequests: isViewer ? nil : totals.keyframeRequests,
      received: receives
        ? .init(totals, [record.reception].compactMap(\.self), bitrate: participant.receivedBitrate) : nil,
      roundTripTime: LoadReport.milliseconds(record.roundTripTimes.max()), failure: record.failure)
  }
}
