package import Media
import NIOCore
package import RTP

/// The selection of the source that frames are assembled from.
///
/// A sender that changes its SSRC is followed at once. Of simulcast layers, the largest active one is selected: one with a
/// larger frame from its next keyframe on, any other when the present one has been silent for a second.
extension ReceiveTrack {
  private static let maximumSources = 8

  // Members that are called for each packet are `mutating`, although they change nothing, because Swift copies a value of
  // this size before a nonmutating call.

  /// The index of the selected source.
  var selectedIndex: Int? {
    mutating get {
      guard let selected else { return nil }
      return index(of: selected)
    }
  }

  /// Returns the index of a source. The loop reads one field of each element in place; a closure would receive a copy of
  /// the element.
  mutating func index(of ssrc: UInt32) -> Int? {
    for position in sources.indices where sources[position].ssrc == ssrc { return position }
    return nil
  }

  /// Returns the packet inside a retransmission, or nil if it is only padding or repairs a source that is not selected.
  mutating func unwrap(_ packet: RTPPacket, route: StreamRouter.Route) -> RTPPacket? {
    let byName = route.streamID.flatMap { id in sources.first { $0.streamID == id }?.ssrc }
    guard let repaired = route.repairs ?? byName ?? selected, repaired == selected else { return nil }
    return Retransmission.unwrap(packet, payloadType: route.payloadType, ssrc: repaired)
  }

  /// Returns the index of the packet's source, adding the source if it is new, or nil for a retransmission of an unknown
  /// source.
  mutating func sourceIndex(
    of packet: RTPPacket, route: StreamRouter.Route, now: MonotonicInstant
  ) -> Int? {
    if let known = index(of: packet.ssrc) { return known }
    if route.isRetransmission { return nil }
    if sources.count >= Self.maximumSources, let oldest = sources.firstIndex(where: { $0.ssrc != selected }) {
      sources.remove(at: oldest)
    }
    var source = makeSource(first: packet, now: now)
    source.streamID = route.streamID
    sources.append(source)
    return sources.count - 1
  }

  /// Returns whether the packet's source is, or now becomes, the selected one.
  mutating func select(
    _ position: Int, packet: RTPPacket, route: StreamRouter.Route, now: MonotonicInstant,
    events: inout [MediaEvent]
  ) -> Bool {
    let ssrc = sources[position].ssrc
    if ssrc == selected { return true }
    guard let current = selectedIndex else {
      // It may have been selected before, or only observed: either way its sequence numbers have advanced.
      beginSource(position, first: packet, now: now)
      return true
    }
    let currentIsSilent = now - sources[current].lastArrival >= configuration.sourceTimeout
    let takesOver: Bool
    let isLayer = route.streamID != nil || media.remoteSources.count > 1
    if isLayer {
      let size = PayloadReader.keyframeStart(in: packet.payload, of: format.codec)?.size
      takesOver =
        currentIsSilent
        ? isLargest(position, now: now) : size.map { $0.area > (sources[current].videoSize?.area ?? 0) } ?? false
    } else {
      takesOver = currentIsSilent || !retired.contains(ssrc)
    }
    guard takesOver else {
      sources[position].observe(packet, arrival: now)
      return false
    }
    retireSelected(now: now, events: &events)
    // A layer of the same camera is not another source to the consumer of the frames.
    if !isLayer { sourceChanged() }
    beginSource(position, first: packet, now: now)
    return true
  }

  /// Returns whether no other active source has a larger frame.
  private func isLargest(_ position: Int, now: MonotonicInstant) -> Bool {
    sources.allSatisfy { other in
      now - other.lastArrival >= configuration.sourceTimeout
        || other.videoSize?.area ?? 0 <= sources[position].videoSize?.area ?? 0
    }
  }

  /// Continues with another codec of the section, if this packet of the selected source can begin it: it starts a keyframe, and
  /// no packet after it has arrived. Packets of another format that cannot are skipped, and a keyframe is requested.
  ///
  /// - Returns: whether the packet is of the track's format now.
  mutating func changeFormat(
    to payloadType: UInt8, first packet: RTPPacket, now: MonotonicInstant, events: inout [MediaEvent]
  ) -> Bool {
    guard let new = media.format(of: payloadType) else { return false }
    guard let position = selectedIndex else {
      begin(new)
      return true
    }
    let begins = media.kind == .audio || PayloadReader.keyframeStart(in: packet.payload, of: new.codec) != nil
    guard begins, packet.ssrc != selected || sources[position].isNewest(packet) else {
      keyframeIsWanted = media.kind == .video
      return false
    }
    retireSelected(now: now, events: &events)
    begin(new)
    sources.removeAll()
    retired = []
    return true
  }

  /// Prepares for the packets of a format, whose codec may have another clock.
  private mutating func begin(_ new: MediaFormat) {
    format = new
    reader = PayloadReader(new.codec, parameterSets: new.parameterSets)
    timeline.changeClockRate(to: new.codec.clockRate)
  }

  /// Emits all usable frames of the selected source, and deselects it.
  ///
  /// - Parameter isOver: whether it ended, rather than another one taking its place. A frame that it was just sending is
  ///   not missing then.
  mutating func retireSelected(now: MonotonicInstant, isOver: Bool = false, events: inout [MediaEvent]) {
    guard let position = selectedIndex else { return }
    sources[position].giveUpAll()
    drain(now: now, events: &events)
    if let lost = redundancy?.lost, lost > 0 { gaps.packetsWereLost(lost) }
    if redundancy != nil { redundancy = RedundantCopies() }
    if isOver { reader.discardUnfinished() }
    expectedOfEarlierSources = statistics.packetsExpected
    reader.finish()
    takeFrames(now: now, events: &events)
    timestamper.finish()
    takeTimestamped(&events)
    reader.restart()
    timeline.changeSource()
    if retired.count >= Self.maximumSources { retired.removeFirst() }
    retired.append(sources[position].ssrc)
    selected = nil
  }

  /// Restarts a source whose sequence numbers have restarted.
  mutating func restart(_ position: Int, now: MonotonicInstant, events: inout [MediaEvent]) {
    let packets = sources[position].restartCandidates
    guard let first = packets.first else { return }
    retireSelected(now: now, events: &events)
    sourceChanged()
    // Its timestamps may have restarted too, so the last sender report no longer applies to them.
    sources[position].lastReport = nil
    beginSource(position, first: first, now: now)
    for packet in packets {
      _ = sources[position].receive(packet, isRetransmission: false, arrival: now, statistics: &statistics)
    }
  }

  /// Notes that the frames that follow are of another camera or microphone.
  private mutating func sourceChanged() {
    gaps.sourceChanged()
    orientation.restart()
  }

  /// Handles a BYE of a source.
  package mutating func goodbye(_ ssrc: UInt32, now: MonotonicInstant, events: inout [MediaEvent]) {
    if ssrc == selected {
      retireSelected(now: now, isOver: true, events: &events)
      sourceChanged()
    }
    sources.removeAll { $0.ssrc == ssrc }
  }

  /// Handles a sender report on one of the track's sources.
  package mutating func received(
    _ report: SenderReport, now: MonotonicInstant, events: inout [MediaEvent]
  ) {
    guard let position = index(of: report.ssrc) else { return }
    sources[position].reporter.received(report: report.ntpTime, arrival: now)
    sources[position].lastReport = .init(timestamp: report.rtpTimestamp, time: report.ntpTime, arrival: now)
    if report.ssrc == selected { reportClock(now: now, events: &events) }
  }

  /// Returns the report blocks on all recently active sources.
  package mutating func reportBlocks(now: MonotonicInstant) -> [ReportBlock] {
    var blocks: [ReportBlock] = []
    for position in sources.indices where now - sources[position].lastArrival < .seconds(10) {
      if let block = sources[position].reporter.block(now: now) { blocks.append(block) }
    }
    return blocks
  }

  private func makeSource(first packet: RTPPacket, now: MonotonicInstant) -> ReceivedSource {
    ReceivedSource(
      first: packet, codec: format.codec, supportsNack: format.feedback.nack,
      dependencyDescriptorID: media.extensions.dependencyDescriptor,
      orientationID: media.extensions.videoOrientation, configuration: configuration, arrival: now)
  }

  /// Selects a source, which starts again with this packet; its last sender report stays valid.
  private mutating func beginSource(_ position: Int, first packet: RTPPacket, now: MonotonicInstant) {
    var source = makeSource(first: packet, now: now)
    source.streamID = sources[position].streamID
    if let report = sources[position].lastReport {
      source.lastReport = report
      source.reporter.received(report: report.time, arrival: report.arrival)
    }
    sources[position] = source
    reportIsPending = source.lastReport != nil
    retired.removeAll { $0 == source.ssrc }
    selected = source.ssrc
  }
}

extension VideoSize {
  fileprivate var area: Int { width * height }
}
