package import Media
package import NIOCore
import RTP

/// Received packets.
extension MediaSession {
  /// Handles a decrypted RTP packet; returns whether it is the first.
  @discardableResult
  package mutating func receivedRTP(_ datagram: ByteBuffer, now: MonotonicInstant) -> Bool {
    guard !isClosed else { return false }
    let isFirst = !hasReceivedPacket
    if isFirst { hasReceivedPacket = true }
    received(datagram, now: now)
    return isFirst
  }

  private mutating func received(_ datagram: ByteBuffer, now: MonotonicInstant) {
    startClocks(now: now)
    guard let packet = try? RTPPacket(parsing: datagram) else {
      packetsRefused &+= 1
      return
    }
    // Every packet with a transport-wide sequence number counts for the sender's congestion control, whatever it carries.
    if sendsTransportFeedback,
      let number = packet.extensions.transportSequenceNumber(extensions.transportSequenceNumber)
    {
      transportFeedback?.received(sequenceNumber: number, arrival: now)
      wake(at: transportFeedback?.deadline)
    }
    guard let route = route(packet), let position = receivingIndex(ofTrack: route.track) else {
      packetsRefused &+= 1
      return
    }
    if nextReport == nil {
      nextReport = now + configuration.reportInterval / 2
      begin(now: now)
    }
    bitrateEstimate.start(now: now)
    let sample = receiving[position].receive(packet, route: route, now: now, events: &events)
    if let sample, !hasFreshRoundTrip(now: now) { roundTrip.measured(sample) }
    if !earlyReports.isEmpty { takeEarlyReports(of: packet.ssrc, track: position) }
    wake(at: events.isEmpty ? receiving[position].deadline : now)
  }

  /// Handles a decrypted RTCP packet, compound or reduced-size.
  package mutating func receivedRTCP(_ datagram: ByteBuffer, now: MonotonicInstant) {
    guard !isClosed else { return }
    begin(now: now)
    let compound = RTCPCompound(parsing: datagram)
    packetsRefused &+= UInt64(compound.packetsSkipped)
    for packet in compound.packets { received(packet, now: now) }
  }

  private mutating func received(_ packet: RTCPPacket, now: MonotonicInstant) {
    switch packet {
    case .senderReport(let report):
      received(report, now: now)
      received(report.reports, now: now)
    case .receiverReport(let report):
      received(report.reports, now: now)
    case .goodbye(let goodbye):
      for source in goodbye.sources { received(goodbyeOf: source, now: now) }
    case .genericNACK(let nack):
      guard let position = sendingIndex(owning: nack.mediaSSRC) else { return }
      sending[position].lost(nack.sequenceNumbers, roundTrip: roundTrip.estimate, pacer: &pacer, now: now)
    case .pictureLossIndication(let request):
      keyframeRequested(of: request.mediaSSRC, now: now)
    case .fullIntraRequest(let request):
      for entry in request.entries {
        guard let position = sendingIndex(owning: entry.ssrc),
          sending[position].isNew(fullIntraRequest: entry.sequenceNumber, from: request.senderSSRC)
        else { continue }
        keyframeRequested(of: entry.ssrc, now: now)
      }
    case .receiverEstimatedMaximumBitrate(let estimate):
      maximumBitrate = estimate.bitrate
      congestion.received(
        maximumBitrate: estimate.bitrate, coverage: coverage(of: estimate.sources), now: now)
    case .extendedReport(let report):
      received(report, now: now)
    case .transportFeedback(let feedback):
      congestion.received(feedback, now: now)
    case .sourceDescription, .unknown:
      break
    }
  }

  /// Returns which of our media a receiver's limit covers. One that names no source of ours covers everything.
  private func coverage(of sources: [UInt32]) -> ReceiverLimit.Coverage {
    var named: Set<MediaKind> = []
    for track in sending where sources.contains(where: track.owns) { named.insert(track.media.kind) }
    return named == [.video] ? .video : named == [.audio] ? .audio : .everything
  }

  private mutating func received(_ report: SenderReport, now: MonotonicInstant) {
    if let position = receivingIndex(of: report.ssrc) {
      receiving[position].received(report, now: now, events: &events)
    } else {
      earlyReports.removeAll { $0.report.ssrc == report.ssrc }
      if earlyReports.count >= 8 { earlyReports.removeFirst() }
      earlyReports.append((report, now))
    }
  }

  private mutating func takeEarlyReports(of ssrc: UInt32, track position: Int) {
    guard let index = earlyReports.firstIndex(where: { $0.report.ssrc == ssrc }) else { return }
    let (report, arrival) = earlyReports.remove(at: index)
    receiving[position].received(report, now: arrival, events: &events)
  }

  private mutating func received(_ blocks: [ReportBlock], now: MonotonicInstant) {
    guard let time = clock?.time(at: now) else { return }
    for block in blocks {
      guard let position = sending.firstIndex(where: { $0.ssrc == block.ssrc }) else { continue }
      let sample = sending[position].received(block, time: time)
      congestion.received(block, roundTrip: sample, now: now)
      if let sample { roundTripReported(sample, now: now) }
    }
  }

  private mutating func received(_ report: ExtendedReport, now: MonotonicInstant) {
    for block in report.blocks {
      switch block {
      case .receiverReferenceTime(let time):
        referenceTime = (report.ssrc, time, now)
      case .delaySinceLastReceiverReport(let subBlocks):
        guard let time = clock?.time(at: now) else { continue }
        for subBlock in subBlocks where receiving.contains(where: { $0.media.localSSRC == subBlock.ssrc }) {
          if let sample = subBlock.roundTripTime(now: time) { roundTripReported(sample, now: now) }
        }
      case .unknown:
        break
      }
    }
  }

  private mutating func received(goodbyeOf source: UInt32, now: MonotonicInstant) {
    guard let position = receivingIndex(of: source) else { return }
    receiving[position].goodbye(source, now: now, events: &events)
    router.forget(source)
  }

  private mutating func roundTripReported(_ sample: Duration, now: MonotonicInstant) {
    roundTrip.measured(sample)
    lastReportedRoundTrip = now
  }

  /// Returns whether RTCP reports have measured the round-trip time recently. Then samples from NACKs, which include the
  /// sender's pacing, are not needed.
  private mutating func hasFreshRoundTrip(now: MonotonicInstant) -> Bool {
    lastReportedRoundTrip.map { now - $0 < .seconds(5) } ?? false
  }

  private mutating func route(_ packet: RTPPacket) -> StreamRouter.Route? {
    let ids = extensions
    return router.route(ssrc: packet.ssrc, payloadType: packet.payloadType) {
      .init(
        mid: packet.extensions.text(ids.mid), streamID: packet.extensions.text(ids.streamID),
        repairedStreamID: packet.extensions.text(ids.repairedStreamID))
    }
  }

  private mutating func receivingIndex(of ssrc: UInt32) -> Int? {
    guard let track = router.track(of: ssrc) else { return nil }
    return receivingIndex(ofTrack: track)
  }

  private mutating func receivingIndex(ofTrack key: Int) -> Int? {
    for position in receiving.indices where receiving[position].media.trackKey == key { return position }
    return nil
  }

  mutating func configureReceiving(_ media: [NegotiatedMedia], now: MonotonicInstant) {
    for position in receiving.indices.reversed() {
      let track = receiving[position]
      let stays = media.contains { section in
        section.trackKey == track.media.trackKey && section.stream == track.media.stream
          && section.format(of: track.format.codec) != nil
          // A track that has stopped ends when another one takes its place in the stream.
          && (section.receives
            || !media.contains { $0.receives && $0.stream == section.stream && $0.kind == section.kind })
      }
      if !stays {
        receiving[position].finish(now: now, events: &events)
        receiving.remove(at: position)
      }
    }
    for section in media {
      if let position = receiving.firstIndex(where: { $0.media.trackKey == section.trackKey }) {
        receiving[position].reconfigure(section, now: now)
      } else if section.receives {
        receiving.append(ReceiveTrack(media: section, owner: owner, configuration: configuration.receiving))
      }
    }
    receiving.sort { $0.media.trackKey < $1.media.trackKey }
    describeStreams(media)
  }

  /// Reports what the description says of each stream that is received, if that has changed. One that was received and has stopped
  /// has no tracks.
  private mutating func describeStreams(_ media: [NegotiatedMedia]) {
    for number in Set(media.filter(\.receives).map(\.stream)).union(streams.keys).sorted() {
      let tracks = media.filter { $0.receives && $0.stream == number }
      var names: [MediaKind: String] = [:]
      for track in tracks {
        let source = track.remoteSources.first.map { "ssrc:\($0.ssrc)" }
        names[track.kind] = (track.ordinal == 0 ? track.mid : nil) ?? source ?? "section \(track.index)"
      }
      let stream = MediaStream(
        owner: owner, number: number, id: tracks.firstNonNil(\.streamID), content: tracks.firstNonNil(\.content),
        tracks: names)
      if streams.updateValue(stream, forKey: number) != stream { events.append(.described(stream)) }
    }
  }
}
