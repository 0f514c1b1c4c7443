internal import ICE
package import Media
internal import NIOCore
package import RTP

/// Outgoing datagrams and deadlines.
extension PeerConnection {
  /// Returns all actions that are due, in order.
  ///
  /// - Parameter wallClock: used only for sender reports.
  package func poll(now: MonotonicInstant, wallClock: NTPTime) -> [Action] {
    var taken: [Action] = []
    poll(now: now, wallClock: wallClock, into: &taken)
    return taken
  }

  /// Does the same with a reused array: `taken` must be empty.
  func poll(now: MonotonicInstant, wallClock: NTPTime, into taken: inout [Action]) {
    if isOpen, let timeout = transport.timeout(in: state, now: now) { carryOut(timeout, now: now) }
    if isIntercepted, isOpen { pollInterceptors(now: now) }
    if isOpen {
      if let update = transport.poll(now: now) { carryOut(update, now: now) }
      if path != nil {
        if let change = secure.advance(now: now) { handle(change, now: now) }
        transmit(secure.takeDatagrams())
      }
      media.poll(now: now, wallClock: wallClock, into: &outputs)
      carryOutOutputs()
      pollDataChannels(now: now)
    }
    if isIntercepted { actions = intercepted(actions, now: now) }
    schedulePoll()
    swap(&actions, &taken)
  }

  /// When ``poll(now:wallClock:)`` must be called next even if nothing arrives; nil when the engine has ended.
  package var deadline: MonotonicInstant? {
    guard isOpen else { return nil }
    var earliest = Deadline.earlier(transport.deadline(in: state), media.deadline)
    if path != nil {
      earliest = Deadline.earlier(earliest, secure.deadline)
      earliest = Deadline.earlier(earliest, channels.deadline)
    }
    if isIntercepted {
      for interceptor in interceptors { earliest = Deadline.earlier(earliest, interceptor.deadline) }
    }
    return earliest
  }

  /// Updates when the next poll is due; called at the end of each.
  private func schedulePoll() {
    let due = deadline
    let isBusy = media.isPacing || channels.isBusy
    let promptDeadline = transport.promptDeadline
    pollState.scheduled(due, isBusy: isBusy, promptDeadline: promptDeadline)
  }

  /// Updates when the next poll is due after media has arrived: it may be sooner.
  func mediaChanged(now: MonotonicInstant) -> (isSooner: Bool, isDue: Bool) {
    let due = media.deadline
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
      case .events(let events): actions.append(.media(events))
      case .keyframeRequested: actions.append(.event(.keyframeRequested))
      case .targetBitrate(let target):
        actions.append(.event(.targetBitrate(target.bitrate, fractionLost: target.fractionLost)))
      case .codecNotNegotiated(let codec): actions.append(.event(.problem(Self.sentence(onUnaccepted: codec))))
      }
    }
    swap(&actions, &self.actions)
    outputs.removeAll(keepingCapacity: true)
    swap(&outputs, &self.outputs)
  }

  /// Says that media of ours is not sent.
  static func sentence(onUnaccepted codec: Codec) -> String {
    let (kind, name) = (codec.kind.rawValue, codec.properties.name)
    let sentence = "Our \(kind) is not sent: it is \(name), which the participant does not accept."
    if codec.kind == .audio { return sentence }
    return sentence + " A file can be encoded as another codec while it plays (--live)."
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
