import BotPeer
import CallCheck
import Foundation
import Load
import Media
import Testing

@Suite("the report of a load")
struct LoadReportTests {
  private let start = ContinuousClock.now
  private let recorder = ParticipantID("recorder")

  /// A publisher that joined after 5 ms and was connected `delay` ms after that.
  private func connected(after delay: Int, packets: UInt64 = 0, lost: Int64 = 0) -> ParticipantRecord {
    var record = ParticipantRecord()
    record.starts(now: start)
    record.joined(as: ParticipantID("publisher"), now: start + .milliseconds(5))
    record.calls(recorder, now: start + .milliseconds(5))
    record.connected(recorder, now: start + .milliseconds(5 + delay))
    record.counted([statistics(packets: packets, lost: lost)])
    return record
  }

  private func statistics(packets: UInt64, lost: Int64 = 0) -> PeerStatistics {
    var statistics = PeerStatistics(participant: recorder, state: .connected)
    statistics.packetsSent = packets
    statistics.bytesSent = packets * 1000
    statistics.framesSent = packets / 2
    statistics.packetsLost = lost
    statistics.keyframeRequests = 1
    statistics.roundTripTime = 0.002
    return statistics
  }

  private func report(
    _ records: [ParticipantRecord], viewers: [ParticipantRecord] = [], before: [ParticipantRecord.Totals] = [],
    sendsData: Bool = false, seconds: Double = 10
  ) -> LoadReport {
    LoadReport(
      records: records + viewers, publishers: records.count, room: "100", server: "ws://localhost:3000",
      source: "a file", sendsData: sendsData, seconds: seconds, before: before, lateness: Lateness())
  }

  /// The counters of a participant that has sent some bytes.
  private func totals(sent: UInt64 = 0, received: UInt64 = 0) -> ParticipantRecord.Totals {
    var totals = ParticipantRecord.Totals()
    (totals.bytesSent, totals.bytesReceived) = (sent, received)
    return totals
  }

  /// A viewer that joined after 5 ms, was connected 40 ms later, and received a frame 100 ms after the join.
  private func viewer(packets: UInt64, lost: UInt64 = 0, receives: Bool = true) -> ParticipantRecord {
    var record = connected(after: 40)
    var statistics = PeerStatistics(participant: recorder, state: .connected)
    var track = TrackStatistics()
    (track.packetsReceived, track.bytesReceived, track.frames) = (packets, packets * 1000, packets / 2)
    (track.packetsLost, track.packetsRecovered) = (lost, 2)
    statistics.received[TrackID(of: recorder, kind: .video)] = track
    var log = ReceptionLog()
    for index in 0..<10 where receives {
      // The last frame is 500 ms late.
      let arrival = start + .milliseconds(105 + 40 * index + (index == 9 ? 500 : 0))
      log.received(TrackID(of: recorder, kind: .video), at: arrival)
    }
    record.counted([statistics], reception: log)
    return record
  }

  @Test("times are in milliseconds, from the join to the connection")
  func times() throws {
    let report = report([connected(after: 80), connected(after: 100), connected(after: 300)])
    #expect(report.joined == 3)
    #expect(report.connected == 3)
    #expect(report.connections == 3)
    #expect(report.isComplete)
    let times = try #require(report.connectTime)
    #expect([times.median, times.p95, times.worst] == [100, 300, 300])
    #expect(report.joinTime?.worst == 5)
    #expect(report.roundTripTime?.median == 2)
  }

  @Test("counts are added up, and the bitrate is the average since the last publisher started")
  func sums() {
    let report = report(
      [connected(after: 1, packets: 1000, lost: 20), connected(after: 1, packets: 3000)],
      before: [totals(sent: 500_000), totals(sent: 1_000_000)])
    let sent = report.sent
    #expect((sent.frames, sent.packets, sent.bytes, sent.bitrate) == (2000, 4000, 4_000_000, 2_000_000))
    #expect((report.lost.packets, report.lost.fraction) == (20, 0.005))
    #expect(report.keyframeRequests == 2)
  }

  @Test("messages on data channels are added up, and each channel has one round-trip time")
  func data() throws {
    var channel = DataReport()
    (channel.open, channel.sent, channel.returned, channel.lost, channel.throughput) = (0.1, 100, 98, 1, 80_000)
    let trips = Data(#"{"count":98,"p50":0.005,"p95":0.009,"worst":0.02}"#.utf8)
    channel.roundTrip = try JSONDecoder().decode(Spread.self, from: trips)
    var unopened = DataReport()
    unopened.sent = 0
    var one = connected(after: 1)
    one.counted([], data: [channel, unopened])
    var other = connected(after: 1)
    other.counted([], data: [channel])
    let report = report([one, other], sendsData: true)
    let data = try #require(report.data)
    #expect((data.opened, data.sent, data.returned, data.lost, data.disordered) == (2, 200, 196, 2, 0))
    #expect(data.throughput == 160_000)
    #expect(data.roundTripTime?.median == 5 && data.roundTripTime?.count == 2)
    #expect(self.report([connected(after: 1)]).data == nil)
    // Nobody was there to whom a channel could be opened.
    #expect(self.report([connected(after: 1)], sendsData: true).data?.opened == 0)
  }

  @Test("after a signal during the ramp, only publishers that were started count")
  func interrupted() {
    let waiting = Array(repeating: ParticipantRecord(), count: 3)
    let early = report([connected(after: 1), connected(after: 1)] + waiting)
    #expect(early.started == 2 && early.publishers == 5)
    #expect(early.isComplete)
    var lonely = ParticipantRecord()
    lonely.starts(now: start)
    var refused = ParticipantRecord()
    refused.failed("The room is full.")
    #expect(!report([connected(after: 1), lonely] + waiting).isComplete)
    #expect(report([connected(after: 1), refused] + waiting).started == 2)
  }

  @Test("the steady part begins when the last publisher has started; before that, everything counts")
  func milestones() {
    let milestones = LoadMilestones(now: start)
    let before = milestones.steady(now: start + .seconds(3))
    #expect(before.seconds == 3 && before.before.isEmpty)
    milestones.last(totals: [totals(sent: 1_000), totals()], now: start + .seconds(4))
    let after = milestones.steady(now: start + .seconds(6))
    #expect(after.seconds == 2 && after.before.map(\.bytesSent) == [1_000, 0])
  }

  @Test("the counts of an ended connection are kept, and those of a new one are added")
  func reconnected() {
    var record = connected(after: 10, packets: 100)
    record.ended(recorder, CloseReason(.connectionLost, "Nothing was heard for 30 s."))
    #expect(record.connections == 0)
    #expect(record.totals.packetsSent == 100)
    record.calls(recorder, now: start + .seconds(60))
    record.connected(recorder, now: start + .seconds(61))
    record.counted([statistics(packets: 7)])
    #expect(record.totals.packetsSent == 107)
    #expect(record.connectTimes.count == 2)
    #expect(record.failures.counts == ["Nothing was heard for 30 s.": 1])
  }

  @Test("counters that arrive after the end of their connection are ignored")
  func late() {
    var record = connected(after: 10, packets: 100)
    let last = statistics(packets: 110)
    record.ended(recorder, CloseReason(.closedByParticipant, "The participant left."))
    record.counted([last])
    #expect(record.totals.packetsSent == 100 && record.roundTripTimes.isEmpty)
  }

  @Test("a connection that resumes after silence is counted once")
  func comesBack() {
    var record = connected(after: 10)
    record.connected(recorder, now: start + .seconds(9))
    #expect(record.connectTimes.count == 1)
  }

  @Test("a participant that leaves regularly is not a failure")
  func orderly() {
    var record = connected(after: 10)
    record.ended(recorder, CloseReason(.closedByParticipant, "The participant left."))
    #expect(record.failures.isEmpty)
    #expect(record.hasConnected)
  }

  @Test("a receiver's negative count of lost packets is 0")
  func duplicates() {
    let lost = report([connected(after: 1, packets: 10, lost: -3)]).lost
    #expect((lost.packets, lost.fraction) == (0, 0))
  }

  @Test("failures are grouped by reason, the most frequent first")
  func failures() {
    var one = ParticipantRecord()
    one.failed("The room is full.")
    var other = ParticipantRecord()
    other.failed("No answer.")
    let report = report([one, other, one])
    #expect(report.failures.map(\.reason) == ["The room is full.", "No answer."])
    #expect(report.failures.map(\.count) == [2, 1])
    #expect(!report.isComplete)
    #expect(report.connectTime == nil)
  }

  @Test("an error with ever new words is counted, but only 64 sentences are kept")
  func manyFailures() {
    var record = ParticipantRecord()
    for index in 0..<1_000 { record.failed("Error \(index).") }
    record.failed("Error 3.")
    #expect(record.failures.counts.count == 64 && record.failure == "Error 0.")
    var other = ParticipantRecord()
    for index in 0..<70 { other.failed("Fault \(index).") }
    let failures = report([record, other]).failures
    #expect(failures.count == 65 && failures[0].reason == "Error 3." && failures[0].count == 2)
    #expect(failures.last?.reason == "Other failures." && failures.reduce(0) { $0 + $1.count } == 1_071)
  }

  @Test("what publishers received is added to what viewers received")
  func received() {
    let report = report([viewer(packets: 500)], viewers: [viewer(packets: 2000)])
    #expect((report.received.packets, report.viewers?.received.packets) == (2500, 2000))
    #expect(self.report([connected(after: 1, packets: 5)]).received.packets == 0)
  }

  @Test("frames that no publisher sent were not late")
  func lateness() {
    var lateness = Lateness()
    lateness.add(.milliseconds(3))
    func report(_ packets: UInt64) -> LoadReport {
      LoadReport(
        records: [connected(after: 1, packets: packets)], publishers: 1, room: "100", server: "ws://localhost:3000",
        source: "a file", seconds: 10, before: [], lateness: lateness)
    }
    #expect(report(1).lateness == 4 && report(0).lateness == nil)
  }

  @Test("a refusal that ended a publisher is a failure only")
  func refusedAtOnce() {
    var record = ParticipantRecord()
    record.refused("The server refused the stream: 405.")
    record.refused("The server refused our audio.")
    record.failed("The server refused the stream: 405.")
    let report = report([record, record])
    #expect(report.failures.map(\.reason) == ["The server refused the stream: 405."])
    #expect(report.refused?.map(\.reason) == ["The server refused our audio."])
  }

  @Test("viewers are counted apart, and each of them has a row")
  func viewers() throws {
    let idle = viewer(packets: 0, receives: false)
    let report = report(
      [connected(after: 80, packets: 1000)], viewers: [viewer(packets: 2000, lost: 20), viewer(packets: 4000), idle],
      before: [totals(), totals(received: 500_000)])
    #expect((report.publishers, report.started, report.joined, report.connected) == (1, 1, 1, 1))
    #expect((report.received.packets, report.received.bytes) == (6000, 6_000_000) && report.connectTime?.count == 1)
    let viewers = try #require(report.viewers)
    #expect((viewers.requested, viewers.started, viewers.connected, viewers.receiving) == (3, 3, 3, 2))
    #expect(viewers.connectTime?.median == 40 && viewers.firstFrameTime?.median == 100)
    let received = viewers.received
    #expect((received.packets, received.frames, received.bytes) == (6000, 3000, 6_000_000))
    #expect(received.bitrate == 4_400_000 && viewers.lowestBitrate == 0)
    #expect((received.lost.packets, received.recovered) == (20, 6))
    #expect((received.freezes, received.frozenTime, received.longestFreeze) == (2, 1080, 540))
    let rows = try #require(report.eachViewer)
    #expect(rows.map(\.number) == [1, 2, 3] && rows.map { $0.received?.bitrate } == [1_200_000, 3_200_000, 0])
    #expect(rows.allSatisfy { $0.sent == nil && $0.peers == 1 && $0.failure == nil })
    #expect(rows.map(\.firstFrameTime) == [100, 100, nil])
    #expect(report.isComplete && report.unserved == nil && report.allJoined == 4)
  }

  @Test("each publisher has a row with its id, times, counts and failure")
  func rows() throws {
    var refused = ParticipantRecord()
    refused.failed("The room is full.")
    let rows = try #require(report([connected(after: 80, packets: 1000, lost: 20), refused]).eachPublisher)
    let first = rows[0]
    #expect((first.number, first.id, first.joinTime, first.connectTime) == (1, "publisher", 5, 80))
    #expect((first.peers, first.connections, first.roundTripTime, first.failure) == (1, 1, 2, nil))
    #expect((first.sent?.packets, first.sent?.bytes, first.sent?.bitrate) == (1000, 1_000_000, 800_000))
    #expect((first.lost?.packets, first.lost?.fraction, first.keyframeRequests) == (20, 0.02, 1))
    #expect(first.received == nil)
    let second = rows[1]
    #expect((second.number, second.id, second.joinTime, second.failure) == (2, nil, nil, "The room is full."))
    #expect((second.peers, second.sent?.packets) == (0, 0))
  }

  @Test("the reason why nobody was connected is that of a refusal, or that nobody was there")
  func reasons() {
    func record(_ change: (inout ParticipantRecord) -> Void = { _ in }) -> ParticipantRecord {
      var record = ParticipantRecord()
      record.starts(now: start)
      record.joined(as: ParticipantID("publisher"), now: start)
      change(&record)
      return record
    }
    let section = RejectedSection(index: 0, kind: "video", reason: .rejectedByParticipant, offered: ["VP8"])
    let refused = record { record in
      record.calls(recorder, now: start)
      record.refused(section.description)
      record.ended(recorder, CloseReason(.closedByParticipant, "The participant left the room."))
    }
    let report = report([refused, refused, record()])
    #expect(report.unserved?.count == 3)
    #expect(report.unserved?.reason == "The participant refused our video of section 0; we offered VP8.")
    #expect(
      report.unconnected
        == "Publishers that were never connected: 3 of 3. The participant refused our video of section 0; we offered VP8."
    )
    #expect(report.refused?.map(\.count) == [2] && report.refused?.first?.reason == report.unserved?.reason)
    #expect(report.failures.isEmpty)
    #expect(self.report([record()]).unserved?.reason == "Nobody else was in the room.")
    let early = record { $0.calls(recorder, now: start) }
    #expect(self.report([early]).unserved?.reason == "No connection was established before the load ended.")
    let left = record { record in
      record.calls(recorder, now: start)
      record.ended(recorder, CloseReason(.closedByParticipant, "The participant left the room."))
    }
    #expect(
      self.report([left]).unserved?.reason == "Nobody stayed in the room until a connection was established.")
    // Who came and left refused nothing.
    #expect(self.report([left]).refused?.isEmpty == true)
    let beside = record { record in
      record.calls(recorder, now: start)
      record.connected(recorder, now: start + .seconds(1))
      record.counted([statistics(packets: 5)])
      record.calls(ParticipantID("guest"), now: start)
      record.ended(ParticipantID("guest"), CloseReason(.closedByParticipant, "The participant left the room."))
    }
    #expect(self.report([beside]).isComplete && self.report([beside]).eachPublisher?[0].failure == nil)
    var started = ParticipantRecord()
    started.starts(now: start)
    #expect(self.report([started]).eachPublisher?[0].failure == "It had not joined the room when the load ended.")
    // A refused section beside media is no failure; without media it is.
    var (sending, silent) = (connected(after: 3, packets: 5), connected(after: 3))
    sending.refused("Our video is not sent.")
    silent.refused("Our video is not sent.")
    let carrying = self.report([sending])
    #expect(carrying.isComplete && carrying.unserved == nil && carrying.refused?.map(\.count) == [1])
    let refusedAll = self.report([silent, sending])
    #expect(!refusedAll.isComplete && refusedAll.connected == 2)
    #expect(refusedAll.unserved?.count == 1 && refusedAll.unserved?.reason == "Our video is not sent.")
    #expect(carrying.unconnected == nil)
    #expect(refusedAll.unconnected == "Publishers that were refused all media: 1 of 2. Our video is not sent.")
    #expect(refusedAll.eachPublisher?.map(\.failure) == ["Our video is not sent.", nil])
  }

  @Test("another JSON parser reads the same values")
  func json() throws {
    let text = try report([connected(after: 80, packets: 1000, lost: 20)]).json
    let object = try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    let version = object["version"] as? Int
    let times = object["connectTime"] as? [String: Double]
    let sent = object["sent"] as? [String: Double]
    #expect(version == 1)
    #expect(times?["median"] == 80)
    #expect(sent?["packets"] == 1000)
    #expect(object["lateness"] == nil)
  }

  @Test("the JSON is valid and shows no control sequence, whatever others are called")
  func hostile() throws {
    var record = ParticipantRecord()
    record.failed("\u{202E}No \u{9B}2J \"answer\"\n.\u{1B}")
    let text = try report([record]).json
    #expect(text.hasSuffix("}\n") && text.contains(#"\u202e"#))
    #expect(!text.unicodeScalars.contains { $0 == "\u{202E}" || $0 == "\u{9B}" || $0 == "\u{1B}" })
    let read = try JSONDecoder().decode(LoadReport.self, from: Data(text.utf8))
    #expect(read.failures.first?.reason == "\u{202E}No \u{9B}2J \"answer\"\n.\u{1B}")
  }

  @Test("a report that is read from its JSON is the same")
  func readBack() throws {
    var failed = ParticipantRecord()
    failed.failed("No answer.")
    let report = report([connected(after: 80, packets: 1000, lost: 20), failed])
    #expect(try JSONDecoder().decode(LoadReport.self, from: Data(report.json.utf8)) == report)
  }
}
