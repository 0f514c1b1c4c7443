internal import ICE
internal import Media
internal import NIOCore
package import RTP

/// Outgoing datagrams and deadlines.
extension PeerConnection {
  /// Returns all actions that are due, in order.
  ///
  /// - Parameter wallClock: used only for sender reports.
  package func poll(now: ContinuousClock.Instant, wallClock: NTPTime) -> [Action] {
    var taken: [Action] = []
    poll(now: now, wallClock: wallClock, into: &taken)
    return taken
  }

  /// Does the same with a reused array: `taken` must be empty.
  func poll(now: ContinuousClock.Instant, wallClock: NTPTime, into taken: inout [Action]) {
    let moment = MonotonicInstant(now)
    let hasFault = faultInjector != nil
    if isOpen, let timeout = transport.timeout(in: state, now: moment) { follow(timeout, now: moment) }
    if hasFault, isOpen { injectFaults(now: moment) }
    if isOpen {
      if let update = transport.poll(now: moment) { follow(update, now: moment) }
      if path != nil {
        if let change = secure.advance(now: moment) { handle(change, now: moment) }
        transmit(secure.takeDatagrams())
      }
      media.poll(now: now, wallClock: wallClock, into: &outputs)
      carryOutOutputs()
      pollDataChannels(now: moment)
    }
    if hasFault { actions = passThroughInjector(actions, now: moment) }
    schedulePoll()
    swap(&actions, &taken)
  }

  /// When ``poll(now:wallClock:)`` must be called next even if nothing arrives; nil when the engine has ended.
  package var deadline: ContinuousClock.Instant? { monotonicDeadline?.instant }

  private var monotonicDeadline: MonotonicInstant? {
    guard isOpen else { return nil }
    var earliest = Deadline.earlier(transport.deadline(in: state), media.due)
    if path != nil {
      earliest = Deadline.earlier(earliest, secure.deadline)
      earliest = Deadline.earlier(earliest, channels.deadline)
    }
    if faultInjector != nil {
      earliest = Deadline.earlier(earliest, faultInjector?.deadline)
    }
    return earliest
  }

  /// Updates when the next poll is due; called at the end of each.
  private func schedulePoll() {
    let due = monotonicDeadline
    let isBusy = media.isPacing || channels.isBusy
    let promptDeadline = transport.promptDeadline
    pollState.scheduled(due, isBusy: isBusy, promptDeadline: promptDeadline)
  }

  /// Updates when the next poll is due after media has arrived: it may be sooner.
  func mediaChanged(now: MonotonicInstant) -> (isSooner: Bool, isDue: Bool) {
    let due = media.due
    return pollState.mediaChanged(due: due, now: now)
  }

  /// Carries out the outputs of the media session.
  func carryOutOutputs() {
    if outputs.isEmpty { return }
    // Local, because each access to a property of a class is checked.
    var outputs: [MediaSession.Output] = []
    swap(&outputs, &self.outputs)
    var actions: [Action] = []
    swap(&actions, &self.actions)
    let path = path
    let session = secure.session
    for position in outputs.indices {
      // Swapped out of the array, a packet's buffer is not shared, so it is encrypted in place.
      var output = MediaSession.Output.keyframeRequested
      swap(&output, &outputs[position])
      switch consume output {
      case .rtp(let packet): Self.transmit(packet, isControl: false, on: path, protectedBy: session, to: &actions)
      case .rtcp(let packet): Self.transmit(packet, isControl: true, on: path, protectedBy: session, to: &actions)
      case .event(let event): actions.append(.event(.media(event)))
      case .keyframeRequested: actions.append(.event(.keyframeRequested))
      case .targetBitrate(let target):
        actions.append(.event(.targetBitrate(target.bitrate, fractionLost: target.fractionLost)))
      case .codecNotNegotiated(let codec):
        let name = codec.properties.name
        actions.append(
          .event(
            .problem("Our \(codec.kind.rawValue) is not sent: it is \(name), which the participant does not accept.")))
      }
    }
    swap(&actions, &self.actions)
    outputs.removeAll(keepingCapacity: true)
    swap(&outputs, &self.outputs)
  }

  private static func transmit(
    _ packet: consuming ByteBuffer, isControl: Bool, on path: Path?, protectedBy session: SRTPSession?,
    to actions: inout [Action]
  ) {
    guard let path, let session, session.protect(&packet, isControl: isControl) else { return }
    actions.append(.transmit(packet, from: path.local, to: path.remote))
  }

  func transmit(_ datagrams: [ByteBuffer]) {
    guard !datagrams.isEmpty, let path else { return }
    for datagram in datagrams {
      actions.append(.transmit(datagram, from: path.local, to: path.remote))
    }
  }
}
