package import Media
package import NIOCore

/// Sends one file that was offered, in the mode that the receiver accepts.
///
/// - Chunks: 1,000 characters of the file's data URL in JSON on the main channel, one each 10 ms, as the SkyRTC page
///   sends them. They are not acknowledged.
/// - Binary: the bytes in messages of up to 64 KiB on a channel of their own, as fast as the channel's buffered amount
///   allows, then their number and SHA-256, which the receiver confirms.
package struct FileSender: Sendable {
  package enum Output: Sendable, Hashable {
    /// Send on the main channel.
    case message(DataMessage)
    case openChannel
    case binary(ByteBuffer)
    case text(String)
    /// Read at most `upTo` bytes at `offset` and call `read`.
    case readNeeded(offset: Int64, upTo: Int)
    case progress(bytes: Int64)
    case finished(sha256: String)
    case failed(FileTransferFailure)
  }

  package enum State: Sendable, Hashable {
    case offered
    case sendingChunks
    case openingChannel
    case sendingBytes
    /// Everything was sent; the receiver has not confirmed it.
    case awaitingReceipt
    case ended
  }

  package let offer: FileOffer
  package private(set) var state = State.offered
  /// The number of bytes that were read.
  package private(set) var bytesRead: Int64 = 0
  /// The maximum size of a binary message.
  private let messageBytes: Int

  private var hash = SHA256Hash()
  private var outputs: [Output] = []
  private var lastProgress: MonotonicInstant
  /// The number of bytes that were requested, until they have been read.
  private var requested: Int?

  // Chunks
  /// The characters of the data URL that were not sent yet.
  private var characters = ByteBuffer()
  private var encoder = Base64Encoder()
  private var sentChunks: Int64 = 0
  private var nextChunk: MonotonicInstant

  /// The buffered amount of the file's channel as last reported, and the bytes sent since.
  private var bufferedAmount = 0

  /// - Parameter maximumMessageBytes: the maximum size of a message that the peer receives
  ///   (`a=max-message-size`, RFC 8841); 0 means any.
  package init(offer: FileOffer, maximumMessageBytes: Int, now: MonotonicInstant) {
    self.offer = offer
    let limit = maximumMessageBytes <= 0 ? Int.max : maximumMessageBytes
    messageBytes = min(
      max(limit, DataMessageLimits.minimumBinaryMessageBytes), DataMessageLimits.maximumBinaryMessageBytes)
    lastProgress = now
    nextChunk = now
  }

  package mutating func takeOutputs() -> [Output] {
    defer { outputs = [] }
    return outputs
  }

  // MARK: Time

  /// When `advance` must be called; nil while only the file is awaited, and after the end.
  package var deadline: MonotonicInstant? {
    switch state {
    case .offered: lastProgress + DataMessageLimits.offerTimeout
    case .sendingChunks: isChunkReady ? nextChunk : nil
    case .openingChannel: lastProgress + DataMessageLimits.idleTimeout
    case .sendingBytes: requested == nil ? lastProgress + DataMessageLimits.idleTimeout : nil
    case .awaitingReceipt: lastProgress + DataMessageLimits.receiptTimeout
    case .ended: nil
    }
  }

  /// Sends the next chunk if it is time, and notices that the transfer stands still.
  ///
  /// - Parameter mainBufferedAmount: the bytes that wait on the main channel. No chunk is sent while they exceed the
  ///   low threshold.
  package mutating func advance(now: MonotonicInstant, mainBufferedAmount: Int) {
    guard let deadline, now >= deadline else { return }
    let idle = Int(DataMessageLimits.idleTimeout.components.seconds)
    switch state {
    case .offered: fail(.notAnswered(seconds: Int(DataMessageLimits.offerTimeout.components.seconds)))
    case .awaitingReceipt: fail(.notAnswered(seconds: Int(DataMessageLimits.receiptTimeout.components.seconds)))
    case .openingChannel, .sendingBytes: fail(.idle(seconds: idle))
    case .sendingChunks:
      if mainBufferedAmount <= DataMessageLimits.bufferedAmountLowThreshold {
        sendChunk(now: now)
      } else if now - lastProgress >= DataMessageLimits.idleTimeout {
        fail(.idle(seconds: idle))
      } else {
        nextChunk = now + DataMessageLimits.chunkInterval
      }
    case .ended: break
    }
  }

  // MARK: Answers of the receiver

  /// - Parameter isBinary: whether the receiver wants the binary mode; ignored if it was not offered.
  package mutating func accepted(isBinary: Bool, now: MonotonicInstant) {
    guard state == .offered else { return }
    lastProgress = now
    if isBinary, offer.isBinary {
      state = .openingChannel
      outputs.append(.openChannel)
    } else {
      state = .sendingChunks
      nextChunk = now
      characters.writeString("data:\(Self.mediaType(of: offer.name));base64,")
      continueReading()
    }
  }

  package mutating func refused() {
    guard state == .offered else { return }
    fail(.refused)
  }

  /// The file's channel is open.
  package mutating func channelOpened(now: MonotonicInstant) {
    guard state == .openingChannel else { return }
    state = .sendingBytes
    lastProgress = now
    continueBinary(now: now)
  }

  /// Handles a text message of the file's channel.
  package mutating func receive(text: String) {
    guard state == .sendingBytes || state == .awaitingReceipt else { return }
    do throws(DataMessageError) {
      switch try FileChannelMessage(parsing: text) {
      case .rejected(let reason): fail(.rejected(reason: reason))
      case .received(let sha256) where state == .awaitingReceipt:
        let digest = hash.digest
        if sha256 == digest {
          end(with: .finished(sha256: digest))
        } else {
          fail(.wrongDigest(announced: sha256, computed: digest))
        }
      case .received, .end: throw .unusable(message: "received", field: "received")
      }
    } catch {
      fail(.unexpectedMessage(error))
    }
  }

  /// Ends the transfer for a reason outside it.
  package mutating func fail(_ failure: FileTransferFailure) {
    end(with: .failed(failure))
  }

  private mutating func end(with output: Output) {
    guard state != .ended else { return }
    state = .ended
    characters = ByteBuffer()
    outputs.append(output)
  }

  // MARK: The file

  /// Handles the bytes that were requested. Fewer than requested are fine; none means that the file has ended.
  package mutating func read(_ bytes: ByteBuffer, now: MonotonicInstant) {
    guard state == .sendingChunks || state == .sendingBytes, let limit = requested else { return }
    requested = nil
    var bytes = bytes
    guard let part = bytes.readSlice(length: min(limit, bytes.readableBytes)), part.readableBytes > 0 else {
      fail(.fileTooShort(bytes: bytesRead, announced: offer.size))
      return
    }
    bytesRead += Int64(part.readableBytes)
    hash.update(part)
    lastProgress = now
    if state == .sendingChunks {
      characters.discardReadBytes()
      encoder.encode(part, into: &characters)
      continueReading()
      return
    }
    var rest = part
    while let message = rest.readSlice(length: min(messageBytes, rest.readableBytes)), message.readableBytes > 0 {
      bufferedAmount += message.readableBytes
      outputs.append(.binary(message))
    }
    outputs.append(.progress(bytes: bytesRead))
    continueBinary(now: now)
  }

  /// Requests the next bytes of the file.
  ///
  /// - Parameter limit: at most so many.
  private mutating func request(_ limit: Int) {
    let count = Int(min(Int64(limit), offer.size - bytesRead))
    requested = count
    outputs.append(.readNeeded(offset: bytesRead, upTo: count))
  }

  // MARK: Chunks

  private static func mediaType(of name: UntrustedText) -> String {
    FileMediaType.of(extension: (try? FileName(announced: name))?.pathExtension ?? "")
  }

  private var isChunkReady: Bool {
    characters.readableBytes > DataMessageLimits.chunkCharacters || bytesRead == offer.size
  }

  /// Requests bytes before the characters run out; writes the padding after the last ones.
  private mutating func continueReading() {
    if bytesRead == offer.size {
      encoder.finish(into: &characters)
    } else if requested == nil, characters.readableBytes <= DataMessageLimits.chunkRefillCharacters {
      request(DataMessageLimits.chunkReadBytes)
    }
  }

  private mutating func sendChunk(now: MonotonicInstant) {
    let size = DataMessageLimits.chunkCharacters
    let isLast = characters.readableBytes <= size
    guard let data = characters.readString(length: min(size, characters.readableBytes)) else { return }
    sentChunks += 1
    lastProgress = now
    // A timer that is late by less than an interval does not slow the transfer.
    nextChunk = max(nextChunk + DataMessageLimits.chunkInterval, now)
    var chunk = FileChunk(sendID: offer.sendID, data: UntrustedText(data), isLast: isLast)
    if !isLast { chunk.percent = percent }
    outputs.append(.message(.fileChunk(chunk)))
    outputs.append(.progress(bytes: isLast ? offer.size : min(sentChunks * 750, bytesRead)))
    if isLast {
      end(with: .finished(sha256: hash.digest))
    } else {
      continueReading()
    }
  }

  /// The progress as the page computes it: the number of chunks is rounded down, so that it reaches 100 before the
  /// last one.
  private var percent: Double {
    let header = Int64("data:\(Self.mediaType(of: offer.name));base64,".utf8.count)
    let all = (header + Base64Encoder.length(ofBytes: offer.size)) / Int64(DataMessageLimits.chunkCharacters)
    return Double(sentChunks) / Double(max(1, all)) * 100
  }

  // MARK: Binary messages

  /// Reports the bytes that wait on the file's channel: after messages were sent, and when it falls to the threshold.
  package mutating func bufferedAmountChanged(_ amount: Int, now: MonotonicInstant) {
    if amount < bufferedAmount { lastProgress = now }
    bufferedAmount = amount
    continueBinary(now: now)
  }

  private mutating func continueBinary(now: MonotonicInstant) {
    guard state == .sendingBytes, requested == nil else { return }
    if bytesRead == offer.size {
      state = .awaitingReceipt
      lastProgress = now
      outputs.append(.text(FileChannelMessage.end(size: offer.size, sha256: hash.digest).text))
    } else if bufferedAmount <= DataMessageLimits.bufferedAmountLowThreshold {
      request(messageBytes * DataMessageLimits.messagesPerRead)
    }
  }
}
