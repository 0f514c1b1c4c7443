package import Media
package import NIOCore

/// Receives one file that was accepted: from the chunks of a data URL in JSON, or from binary messages on a channel
/// of its own.
package struct FileReceiver: Sendable {
  package enum Output: Sendable, Hashable {
    case write(ByteBuffer)
    /// All bytes have arrived, and their number and digest are right.
    case finished(sha256: String)
    case failed(FileTransferFailure)
  }

  package let offer: FileOffer
  /// Whether the bytes come as binary messages.
  package let isBinary: Bool
  /// The number of bytes given to `write`.
  package private(set) var receivedBytes: Int64 = 0
  package private(set) var isEnded = false

  private var hash = SHA256Hash()
  private var decoder = Base64Decoder()
  /// What precedes the comma of the data URL; nil after the comma.
  private var header: [UInt8]? = []
  private var lastProgress: MonotonicInstant
  private var outputs: [Output] = []

  package init(offer: FileOffer, isBinary: Bool, now: MonotonicInstant) {
    self.offer = offer
    self.isBinary = isBinary
    lastProgress = now
  }

  /// The digest of the bytes given to `write`.
  package var sha256: String { hash.digest }

  /// When `advance` must be called; nil after the end.
  package var deadline: MonotonicInstant? {
    isEnded ? nil : lastProgress + DataMessageLimits.idleTimeout
  }

  package mutating func advance(now: MonotonicInstant) {
    guard let deadline, now >= deadline else { return }
    fail(.idle(seconds: Int(DataMessageLimits.idleTimeout.components.seconds)))
  }

  package mutating func takeOutputs() -> [Output] {
    defer { outputs = [] }
    return outputs
  }

  // MARK: Chunks

  package mutating func receive(_ chunk: FileChunk, now: MonotonicInstant) {
    guard !isEnded else { return }
    guard !isBinary else {
      fail(.unexpectedMessage(.unusable(message: "chunk", field: "type")))
      return
    }
    // A chunk without data is no progress.
    if !chunk.data.isEmpty { lastProgress = now }
    var rest = chunk.data.utf8[...]
    if let begun = header {
      // No more than the longest header is kept or searched.
      let room = DataMessageLimits.maximumDataURLHeaderBytes - begun.count
      let part = rest.prefix(room + 1)
      if let comma = part.firstIndex(of: UInt8(ascii: ",")) {
        guard Self.isHeader(begun + part[..<comma]) else {
          fail(.invalidDataURL)
          return
        }
        header = nil
        rest = rest[rest.index(after: comma)...]
      } else if part.count > room {
        fail(.invalidDataURL)
        return
      } else {
        header = begun + part
        rest = rest[rest.endIndex...]
      }
    }
    var bytes = ByteBuffer()
    guard decoder.decode(rest, into: &bytes) else {
      fail(.invalidBase64(offset: receivedBytes))
      return
    }
    guard write(bytes) else { return }
    if chunk.isLast { finishChunks() }
  }

  /// `data:`, a media type with parameters, and `;base64` (RFC 2397).
  private static func isHeader(_ bytes: [UInt8]) -> Bool {
    let text = bytes.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    return text.starts(with: "data:".utf8) && text.reversed().starts(with: ";base64".utf8.reversed())
  }

  private mutating func finishChunks() {
    if let header {
      // Some browsers write the URL of an empty file as "data:".
      guard header == Array("data:".utf8), offer.size == 0 else {
        fail(.invalidDataURL)
        return
      }
    }
    guard decoder.isComplete else {
      fail(.invalidBase64(offset: receivedBytes))
      return
    }
    finish(announced: offer.size)
  }

  // MARK: Binary messages

  package mutating func receive(_ bytes: ByteBuffer, now: MonotonicInstant) {
    guard !isEnded, isBinary else { return }
    if bytes.readableBytes > 0 { lastProgress = now }
    _ = write(bytes)
  }

  /// Handles a text message of the file's channel.
  package mutating func receive(text: String, now: MonotonicInstant) {
    guard !isEnded, isBinary else { return }
    do throws(DataMessageError) {
      guard case .end(let size, let sha256) = try FileChannelMessage(parsing: text) else {
        throw .unusable(message: "end", field: "size")
      }
      guard size == offer.size else {
        fail(.wrongSize(received: size, announced: offer.size))
        return
      }
      finish(announced: size, sha256: sha256)
    } catch {
      fail(.unexpectedMessage(error))
    }
  }

  // MARK: Ends

  /// Ends the transfer for a reason outside the received bytes.
  package mutating func fail(_ failure: FileTransferFailure) {
    guard !isEnded else { return }
    isEnded = true
    outputs.append(.failed(failure))
  }

  /// Returns whether the transfer goes on. Bytes beyond the announced size are not written.
  private mutating func write(_ bytes: ByteBuffer) -> Bool {
    let count = Int64(bytes.readableBytes)
    guard count <= offer.size - receivedBytes else {
      fail(.tooManyBytes(announced: offer.size))
      return false
    }
    if count > 0 {
      receivedBytes += count
      hash.update(bytes)
      outputs.append(.write(bytes))
    }
    return true
  }

  private mutating func finish(announced: Int64, sha256 announcedDigest: String? = nil) {
    guard receivedBytes == announced else {
      fail(.wrongSize(received: receivedBytes, announced: announced))
      return
    }
    let digest = hash.digest
    if let announcedDigest, announcedDigest != digest {
      fail(.wrongDigest(announced: announcedDigest, computed: digest))
      return
    }
    isEnded = true
    outputs.append(.finished(sha256: digest))
  }
}
