package import Media
package import NIOCore

// Files that we send.
extension FileTransfers {
  /// Offers a file. The owner is asked for its bytes when the peer has accepted it.
  ///
  /// - Parameters:
  ///   - name: the name without a path.
  ///   - size: in bytes.
  ///   - sendID: must not be in use.
  package mutating func offer(
    name: String, size: Int64, sendID: String = FileOffer.randomSendID(), now: MonotonicInstant
  ) throws(FileOfferError) -> FileTransferID {
    guard count < DataMessageLimits.maximumTransfers else {
      throw .tooManyTransfers(limit: DataMessageLimits.maximumTransfers)
    }
    let safeName: FileName
    do {
      safeName = try FileName(announced: UntrustedText(name))
    } catch {
      throw .unusableName(error)
    }
    guard (0...DataMessageLimits.maximumFileBytes).contains(size) else { throw .unusableSize(size) }
    guard (1...DataMessageLimits.maximumSendIDBytes).contains(sendID.utf8.count), incomingState(sendID) == nil,
      outgoingState(sendID) == nil, !waiting.contains(where: { $0.sendID == sendID })
    else { throw .unusableSendID }
    let limit = configuration.maximumMessageBytes
    let isBinary =
      configuration.offersBinary && (limit <= 0 || limit >= DataMessageLimits.minimumBinaryMessageBytes)
    let offer = FileOffer(name: UntrustedText(safeName.description), size: size, sendID: sendID, isBinary: isBinary)
    let id = newID()
    outgoing.append(Outgoing(id: id, sender: FileSender(offer: offer, maximumMessageBytes: limit, now: now)))
    actions.append(.send(DataMessage.fileOffer(offer).text))
    return id
  }

  /// Handles the bytes that `readNeeded` requested. None means that the file has ended.
  package mutating func fileRead(_ id: FileTransferID, _ bytes: ByteBuffer, now: MonotonicInstant) {
    guard let sendID = outgoing.first(where: { $0.id == id })?.sendID else { return }
    withOutgoing(sendID, now: now) { $0.read(bytes, now: now) }
  }

  // MARK: Progress and ends

  /// Changes a sender and carries out what it says.
  mutating func withOutgoing(_ sendID: String, now: MonotonicInstant, _ change: (inout FileSender) -> Void) {
    guard let index = outgoing.firstIndex(where: { $0.sendID == sendID }) else { return }
    change(&outgoing[index].sender)
    let (id, channel) = (outgoing[index].id, outgoing[index].channel)
    let size = outgoing[index].sender.offer.size
    for output in outgoing[index].sender.takeOutputs() {
      switch output {
      case .message(let message): actions.append(.send(message.text))
      case .openChannel: actions.append(.openChannel(label: sendID))
      case .binary(let bytes): if let channel { actions.append(.sendBinary(channel, bytes)) }
      case .text(let text): if let channel { actions.append(.sendText(channel, text)) }
      case .readNeeded(let offset, let count): actions.append(.readNeeded(id, offset: offset, upTo: count))
      case .progress(let bytes): actions.append(.progress(id, bytes: bytes, of: size))
      case .finished(let sha256):
        outgoing.removeAll { $0.id == id }
        if let channel { actions.append(.closeChannel(channel)) }
        actions.append(.sent(id, sha256: sha256))
        admitWaiting(now: now)
      case .failed(let failure):
        outgoing.removeAll { $0.id == id }
        notifyReceiver(of: sendID, channel: channel, failure)
        actions.append(.sendFailed(id, failure))
        admitWaiting(now: now)
      }
    }
  }

  private mutating func notifyReceiver(of sendID: String, channel: UInt16?, _ failure: FileTransferFailure) {
    if let channel {
      if failure != .channelClosed { actions.append(.closeChannel(channel)) }
    } else if failure != .refused, failure != .cancelledByPeer {
      // The page ignores it; other receivers need not wait for the next chunk or the channel.
      actions.append(.send(DataMessage.fileClosed(sendID: sendID).text))
    }
  }
}
