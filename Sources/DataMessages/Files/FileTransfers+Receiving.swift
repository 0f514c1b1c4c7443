package import Media
import NIOCore

// Files that the peer sends.
extension FileTransfers {
  /// Handles an offer: it is refused, waits, or its file is created.
  mutating func received(_ offer: FileOffer, now: MonotonicInstant) {
    // An answer would be taken for one to the transfer in progress.
    let isKnown =
      incomingState(offer.sendID) != nil || outgoingState(offer.sendID) != nil
      || waiting.contains { $0.sendID == offer.sendID }
    if isKnown { return ignoreMessage() }
    if let refusal = refusal(of: offer) { return refuse(offer, refusal) }
    guard count < DataMessageLimits.maximumTransfers else {
      if waiting.count < DataMessageLimits.maximumWaitingOffers {
        waiting.append(offer)
      } else {
        refuse(offer, .tooManyTransfers(transfers: count, waiting: waiting.count))
      }
      return
    }
    create(offer, now: now)
  }

  /// What the policy says about an offer; nil if it is acceptable.
  private func refusal(of offer: FileOffer) -> FileRefusal? {
    let policy = configuration.policy
    guard policy.acceptsFiles else { return .notAccepted }
    do {
      _ = try FileName(announced: offer.name)
    } catch {
      return .unusableName(error)
    }
    if offer.size > policy.maximumFileBytes { return .tooLarge(bytes: offer.size, limit: policy.maximumFileBytes) }
    // At most 16 sizes of at most 2^53 are added.
    let announced = incoming.reduce(endedBytes) { $0 + $1.receiver.offer.size }
    let left = max(0, policy.maximumTotalBytes - announced)
    return offer.size > left ? .tooMuchTogether(bytes: offer.size, left: left) : nil
  }

  private mutating func refuse(_ offer: FileOffer, _ refusal: FileRefusal, id: FileTransferID? = nil) {
    counters.offersRefused &+= 1
    actions.append(.send(DataMessage.fileRefused(sendID: offer.sendID).text))
    actions.append(
      .refused(id, name: UntrustedText(offer.name.string.prefix(utf8Bytes: FileName.maximumBytes)), refusal))
  }

  private mutating func create(_ offer: FileOffer, now: MonotonicInstant) {
    guard let name = try? FileName(announced: offer.name) else { return }
    let isBinary = offer.isBinary && configuration.policy.acceptsBinary
    let id = newID()
    incoming.append(Incoming(id: id, name: name, receiver: FileReceiver(offer: offer, isBinary: isBinary, now: now)))
    actions.append(.createFile(id, name, offer))
  }

  /// Examines the waiting offers again after a transfer has ended.
  mutating func admitWaiting(now: MonotonicInstant) {
    while count < DataMessageLimits.maximumTransfers, !waiting.isEmpty {
      let offer = waiting.removeFirst()
      if let refusal = refusal(of: offer) { refuse(offer, refusal) } else { create(offer, now: now) }
    }
  }

  // MARK: Answers of the owner

  /// The file of a `createFile` exists: its offer is accepted.
  package mutating func fileCreated(_ id: FileTransferID, now: MonotonicInstant) {
    guard let index = incoming.firstIndex(where: { $0.id == id && $0.state == .creating }) else { return }
    let receiver = incoming[index].receiver
    incoming[index].state = .receiving
    // The time that creating took does not count.
    incoming[index].receiver = FileReceiver(offer: receiver.offer, isBinary: receiver.isBinary, now: now)
    actions.append(
      .send(DataMessage.fileAccepted(sendID: receiver.offer.sendID, isBinary: receiver.isBinary).text))
  }

  /// The file of a `finish` is stored: the sender is told in the binary mode.
  package mutating func fileStored(_ id: FileTransferID, now: MonotonicInstant) {
    guard let transfer = incoming.first(where: { $0.id == id && $0.state == .storing }) else { return }
    endIncoming(transfer.sendID, .finished(sha256: transfer.receiver.sha256), now: now)
  }

  /// The file of a transfer cannot be created, read, written or stored.
  ///
  /// - Parameter reason: for our own log; the peer is not told.
  package mutating func fileFailed(_ id: FileTransferID, reason: String, now: MonotonicInstant) {
    guard let index = incoming.firstIndex(where: { $0.id == id && $0.state == .creating }) else {
      return fail(id, .file(reason: reason), now: now)
    }
    let transfer = incoming.remove(at: index)
    refuse(transfer.receiver.offer, .notCreated(reason: reason), id: id)
    admitWaiting(now: now)
  }

  // MARK: Progress and ends

  /// Changes a receiver and carries out what it says.
  mutating func withIncoming(_ sendID: String, now: MonotonicInstant, _ change: (inout FileReceiver) -> Void) {
    guard let index = incoming.firstIndex(where: { $0.sendID == sendID }) else { return }
    change(&incoming[index].receiver)
    let id = incoming[index].id
    let outputs = incoming[index].receiver.takeOutputs()
    let received = incoming[index].receiver.receivedBytes
    let size = incoming[index].receiver.offer.size
    for output in outputs {
      switch output {
      case .write(let bytes):
        actions.append(.write(id, bytes))
        actions.append(.progress(id, bytes: received, of: size))
      case .finished(let sha256):
        incoming[index].state = .storing
        actions.append(.finish(id, sha256: sha256))
      case .failed:
        // The last output; it removes the transfer.
        endIncoming(sendID, output, now: now)
      }
    }
  }

  /// Removes a transfer and tells the peer and the owner.
  mutating func endIncoming(_ sendID: String, _ end: FileReceiver.Output, now: MonotonicInstant) {
    guard let index = incoming.firstIndex(where: { $0.sendID == sendID }) else { return }
    let transfer = incoming.remove(at: index)
    endedBytes += transfer.receiver.receivedBytes
    switch end {
    case .write: break
    case .finished(let sha256):
      guard let channel = transfer.channel else { break }
      actions.append(.sendText(channel, FileChannelMessage.received(sha256: sha256).text))
      if closing.count < DataMessageLimits.maximumClosingChannels {
        closing.append((channel, now + DataMessageLimits.closeTimeout))
      } else {
        actions.append(.closeChannel(channel))
      }
    case .failed(let failure):
      notifySender(of: transfer, failure)
      actions.append(
        .abandon(
          transfer.id, failure, bytes: transfer.receiver.receivedBytes, sha256: transfer.receiver.sha256))
    }
    admitWaiting(now: now)
  }

  private mutating func notifySender(of transfer: Incoming, _ failure: FileTransferFailure) {
    switch (transfer.state, transfer.channel) {
    case (.creating, _):
      if failure != .cancelledByPeer { actions.append(.send(DataMessage.fileRefused(sendID: transfer.sendID).text)) }
    case (_, let channel?):
      let reason = if case .file = failure { "The file could not be stored." } else { failure.description }
      actions.append(.sendText(channel, FileChannelMessage.rejected(reason: reason).text))
      actions.append(.closeChannel(channel))
    case (_, nil):
      // A sender of chunks does not listen; a sender in the binary mode that has not opened its channel yet finds it
      // closed.
      break
    }
  }
}
