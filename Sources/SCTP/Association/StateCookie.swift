import Media
import NIOCore

/// The state cookie: all that this side needs to set up an association, so that an INIT costs no memory
/// (RFC 9260, 5.1.3). A SipHash-2-4 with a secret key shows that this side made it.
struct StateCookie: Sendable, Hashable {
  /// When it was made, in milliseconds since the association was made.
  var made: Int64
  var localTag: UInt32
  var localInitialTSN: UInt32
  var peer: PeerParameters
  /// The tags of the association that existed when the INIT arrived; 0 if there was none.
  var localTieTag: UInt32 = 0
  var peerTieTag: UInt32 = 0

  /// What the peer's INIT or INIT ACK said.
  struct PeerParameters: Sendable, Hashable {
    var tag: UInt32
    var initialTSN: UInt32
    var window: UInt32
    /// The number of streams that the peer accepts.
    var incomingStreams: UInt16
    var supportsForwardTSN: Bool
    var supportsReconfiguration: Bool

    init(_ chunk: InitChunk) {
      tag = chunk.initiateTag
      initialTSN = chunk.initialTSN
      window = chunk.window
      incomingStreams = chunk.incomingStreams
      supportsForwardTSN = chunk.supportsForwardTSN
      supportsReconfiguration = chunk.supportsReconfiguration
    }

    fileprivate init(
      tag: UInt32, initialTSN: UInt32, window: UInt32, incomingStreams: UInt16, features: UInt16
    ) {
      self.tag = tag
      self.initialTSN = initialTSN
      self.window = window
      self.incomingStreams = incomingStreams
      supportsForwardTSN = features & 1 != 0
      supportsReconfiguration = features & 2 != 0
    }

    fileprivate var features: UInt16 { (supportsForwardTSN ? 1 : 0) | (supportsReconfiguration ? 2 : 0) }
  }

  /// A secret of the association.
  struct Key: Sendable {
    let low: UInt64
    let high: UInt64
  }

  init(
    made: Int64, localTag: UInt32, localInitialTSN: UInt32, peer: PeerParameters, tieTags: (UInt32, UInt32) = (0, 0)
  ) {
    self.made = made
    self.localTag = localTag
    self.localInitialTSN = localInitialTSN
    self.peer = peer
    (localTieTag, peerTieTag) = tieTags
  }

  /// Returns nil for a cookie that was not made with the key.
  init?(parsing bytes: ByteBuffer, key: Key) {
    var rest = bytes
    guard rest.readableBytes == Self.length,
      let (made, localTag, localTSN, localTie, peerTie) = rest.readMultipleIntegers(
        as: (Int64, UInt32, UInt32, UInt32, UInt32).self),
      let (tag, tsn, window, streams, features) = rest.readMultipleIntegers(
        as: (UInt32, UInt32, UInt32, UInt16, UInt16).self),
      let code = rest.readInteger(as: UInt64.self),
      code == SipHash.hash(bytes.readableBytesView.prefix(Self.length - 8), key: key)
    else { return nil }
    self.init(
      made: made, localTag: localTag, localInitialTSN: localTSN,
      peer: .init(tag: tag, initialTSN: tsn, window: window, incomingStreams: streams, features: features),
      tieTags: (localTie, peerTie))
  }

  private static let length = 48

  func encoded(key: Key) -> ByteBuffer {
    var buffer = ByteBuffer()
    buffer.writeMultipleIntegers(made, localTag, localInitialTSN, localTieTag, peerTieTag)
    buffer.writeMultipleIntegers(peer.tag, peer.initialTSN, peer.window, peer.incomingStreams, peer.features)
    buffer.writeInteger(SipHash.hash(buffer.readableBytesView[...], key: key))
    return buffer
  }
}

/// SipHash-2-4 (Aumasson and Bernstein, 2012): a message authentication code of 64 bits.
enum SipHash {
  static func hash(_ bytes: some Collection<UInt8>, key: StateCookie.Key) -> UInt64 {
    var state = State(key)
    var word: UInt64 = 0
    var count = 0
    for byte in bytes {
      word |= UInt64(byte) << UInt64(8 * (count & 7))
      count += 1
      if count & 7 == 0 {
        state.absorb(word)
        word = 0
      }
    }
    state.absorb(word | UInt64(count & 0xFF) << 56)
    return state.finish()
  }

  private struct State {
    var v0, v1, v2, v3: UInt64

    init(_ key: StateCookie.Key) {
      v0 = key.low ^ 0x736F_6D65_7073_6575
      v1 = key.high ^ 0x646F_7261_6E64_6F6D
      v2 = key.low ^ 0x6C79_6765_6E65_7261
      v3 = key.high ^ 0x7465_6462_7974_6573
    }

    mutating func absorb(_ word: UInt64) {
      v3 ^= word
      round()
      round()
      v0 ^= word
    }

    mutating func finish() -> UInt64 {
      v2 ^= 0xFF
      for _ in 0..<4 { round() }
      return v0 ^ v1 ^ v2 ^ v3
    }

    private mutating func round() {
      v0 = v0 &+ v1
      v1 = rotated(v1, 13) ^ v0
      v0 = rotated(v0, 32)
      v2 = v2 &+ v3
      v3 = rotated(v3, 16) ^ v2
      v0 = v0 &+ v3
      v3 = rotated(v3, 21) ^ v0
      v2 = v2 &+ v1
      v1 = rotated(v1, 17) ^ v2
      v2 = rotated(v2, 32)
    }

    private func rotated(_ word: UInt64, _ bits: UInt64) -> UInt64 { word << bits | word >> (64 - bits) }
  }
}
