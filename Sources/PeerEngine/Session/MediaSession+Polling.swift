package import Media
import NIOCore
package import RTP

/// Outputs and deadlines.
extension MediaSession {
  /// The maximum number of bytes of RTCP in one datagram.
  private static let maximumControlSize = 1_200

  /// Returns everything that is due.
  ///
  /// - Parameter wallClock: for sender reports; only its first reading is used.
  package mutating func poll(now: MonotonicInstant, wallClock: NTPTime) -> [Output] {
    var outputs: [Output] = []
    poll(now: now, wallClock: wallClock, into: &outputs)
    return outputs
  }

  /// Does the same, appending to an array.
  mutating func poll(now: MonotonicInstant, wallClock: NTPTime, into outputs: inout [Output]) {
    guard !isClosed else { return }
    begin(now: now)
    defer { schedule() }
    clock?.read(wallClock, now: now)
    var feedback: [RTCPPacket] = []
    for position in receiving.indices {
      guard let due = receiving[position].deadline, due <= now else { continue }
      receiving[position].poll(roundTrip: roundTrip, now: now, feedback: &feedback, events: &events)
    }
    handOverEvents(to: &outputs)
    if missingCodecs.count > reportedCodecs.count {
      for codec in missingCodecs.subtracting(reportedCodecs) { outputs.append(.codecNotNegotiated(codec)) }
      reportedCodecs = missingCodecs
    }
    for position in sending.indices where isReady && sending[position].takeSourceKeyframeRequest(now: now) {
      keyframeWasRequested = true
    }
    replayUnanswered(now: now)
    if keyframeWasRequested {
      keyframeWasRequested = false
      outputs.append(.keyframeRequested)
    }
    guard isReady else { return }
    addTransportFeedback(to: &feedback, now: now)
    addBitrateEstimate(to: &feedback, now: now)
    releasePackets(now: now, outputs: &outputs)
    reportTargetBitrate(to: &outputs, now: now)
    if let due = nextReport, due <= now { addReports(to: &outputs, now: now) }
    write(feedback, to: &outputs)
  }

  /// Ends the session: returns the buffered frames, the last statistics and a BYE.
  package mutating func close(now: MonotonicInstant) -> [Output] {
    guard !isClosed else { return [] }
    begin(now: now)
    for position in receiving.indices { receiving[position].finish(now: now, events: &events) }
    var outputs: [Output] = []
    handOverEvents(to: &outputs)
    let sources = sending.flatMap(\.sources)
    if isReady, let first = sources.first {
      let packets: [RTCPPacket] = [
        .receiverReport(ReceiverReport(ssrc: first)),
        .sourceDescription(SourceDescription(ssrc: first, cname: cname)),
        .goodbye(Goodbye(sources: sources)),
      ]
      append(packets, to: &outputs)
    }
    isClosed = true
    deadline = nil
    return outputs
  }

  /// Appends all events as one output. The array itself is handed over, so no frame is copied.
  private mutating func handOverEvents(to outputs: inout [Output]) {
    guard !events.isEmpty else { return }
    var taken: [MediaEvent] = []
    swap(&taken, &events)
    outputs.append(.events(taken))
  }

  /// Updates when the next poll is due.
  private mutating func schedule() {
    deadline = nil
    for position in receiving.indices { wake(at: receiving[position].deadline) }
    guard isReady else { return }
    wake(at: pacer.deadline)
    wake(at: nextReport)
    for position in sending.indices { wake(at: sending[position].replayDue) }
    if feedbackTrack != nil { wake(at: transportFeedback?.deadline) }
    if sendsBitrateEstimate { wake(at: bitrateEstimate.deadline) }
  }

  // MARK: Feedback

  private mutating func addTransportFeedback(to feedback: inout [RTCPPacket], now: MonotonicInstant) {
    guard let due = transportFeedback?.deadline, due <= now, let video = feedbackTrack else { return }
    let packets = transportFeedback?.poll(
      senderSSRC: receiving[video].media.localSSRC, mediaSSRC: receiving[video].mediaSSRC ?? 0, now: now)
    for packet in packets ?? [] { feedback.append(.transportFeedback(packet)) }
  }

  private mutating func addBitrateEstimate(to feedback: inout [RTCPPacket], now: MonotonicInstant) {
    guard sendsBitrateEstimate, let due = bitrateEstimate.deadline, due <= now, let video = feedbackTrack else {
      return
    }
    var received = 0.0
    for position in receiving.indices { received += receiving[position].bitrate(now: now) }
    let limit = bitrateEstimate.poll(
      received: received, fractionLost: receiving[video].fractionLost, now: now)
    guard let limit else { return }
    feedback.append(
      .receiverEstimatedMaximumBitrate(
        ReceiverEstimatedMaximumBitrate(
          senderSSRC: receiving[video].media.localSSRC, bitrate: limit, sources: receiving.compactMap(\.mediaSSRC))))
  }

  /// The track that sends feedback on the whole transport: a video track with a source, or else any with one.
  private var feedbackTrack: Int? {
    mutating get {
      for position in receiving.indices
      where receiving[position].media.kind == .video && receiving[position].selected != nil {
        return position
      }
      for position in receiving.indices where receiving[position].mediaSSRC != nil { return position }
      return receiving.indices.first
    }
  }

  private mutating func reportTargetBitrate(to outputs: inout [Output], now: MonotonicInstant) {
    guard isSending else { return }
    if let target = congestion.poll(backlog: pacer.backlog, now: now) { outputs.append(.targetBitrate(target)) }
  }

  /// Whether any track may be sent.
  private var isSending: Bool {
    mutating get {
      for position in sending.indices where sending[position].media.sends { return true }
      return false
    }
  }

  // MARK: Reports

  /// Adds one compound packet for each of our sources that has sent, or one receiver report if none has.
  private mutating func addReports(to outputs: inout [Output], now: MonotonicInstant) {
    let spread = Double.random(in: 0.8...1.2, using: &generator)
    nextReport = now + configuration.reportInterval * spread
    guard let clock, let sendClock else { return }
    let time = clock.time(at: now)
    var blocks: [ReportBlock] = []
    for position in receiving.indices { blocks += receiving[position].reportBlocks(now: now) }
    var hasReported = false
    for position in sending.indices where sending[position].reporter.packetsSent > 0 {
      let track = sending[position]
      let ticks = sendClock.ticks(
        at: now, codec: track.format.codec, stream: track.media.localStream)
      let report = track.reporter.report(
        ssrc: track.ssrc, time: time, timestamp: track.timestamp(ticks: ticks), blocks: blocks)
      var packets: [RTCPPacket] = [
        .senderReport(report), .sourceDescription(SourceDescription(ssrc: track.ssrc, cname: cname)),
      ]
      if !hasReported, let answer = answerToReferenceTime(now: now) {
        packets.append(.extendedReport(ExtendedReport(ssrc: track.ssrc, blocks: [answer])))
      }
      append(packets, to: &outputs)
      sending[position].hasReported = true
      hasReported = true
      blocks = []
    }
    if !hasReported, let ssrc = receiving.first(where: { $0.mediaSSRC != nil })?.media.localSSRC {
      // A peer that sends nothing measures its round-trip time by asking for a reply to its own reference time.
      let request = ExtendedReport.Block.receiverReferenceTime(time)
      let packets: [RTCPPacket] = [
        .receiverReport(ReceiverReport(ssrc: ssrc, reports: blocks)),
        .sourceDescription(SourceDescription(ssrc: ssrc, cname: cname)),
        .extendedReport(
          ExtendedReport(ssrc: ssrc, blocks: [request] + [answerToReferenceTime(now: now)].compactMap(\.self))),
      ]
      append(packets, to: &outputs)
    }
  }

  private mutating func answerToReferenceTime(now: MonotonicInstant) -> ExtendedReport.Block? {
    guard let (ssrc, time, arrival) = referenceTime else { return nil }
    referenceTime = nil
    return .delaySinceLastReceiverReport([
      .init(ssrc: ssrc, lastReceiverReport: time.middle, delay: NTPTime.compact(now - arrival))
    ])
  }

  // MARK: Writing

  /// Writes feedback packets into as few datagrams as possible.
  private mutating func write(_ feedback: [RTCPPacket], to outputs: inout [Output]) {
    if feedback.isEmpty { return }
    var datagram = ByteBuffer()
    for packet in feedback {
      let before = datagram.writerIndex
      packet.write(into: &datagram)
      guard datagram.readableBytes > Self.maximumControlSize, before > 0 else { continue }
      if let full = datagram.getSlice(at: 0, length: before),
        let rest = datagram.getSlice(at: before, length: datagram.writerIndex - before)
      {
        outputs.append(.rtcp(full))
        datagram = ByteBuffer()
        datagram.writeImmutableBuffer(rest)
      }
    }
    if datagram.readableBytes > 0 { outputs.append(.rtcp(datagram)) }
  }

  private mutating func append(_ packets: [RTCPPacket], to outputs: inout [Output]) {
    var datagram = ByteBuffer()
    RTCPPacket.write(packets, into: &datagram)
    outputs.append(.rtcp(datagram))
  }
}
