package import NIOCore

/// The description of audio in WAVE files, WAVEFORMATEX, which is the private data of Matroska's codec `A_MS/ACM` (RFC 9559 refers to
/// its codec specifications): 18 bytes, little endian.
package struct WaveFormat: Sendable, Hashable {
  /// The codec's number (RFC 2361): `wFormatTag`.
  package var tag: UInt16
  package var channels: UInt16
  /// Of the decoded audio, in Hz.
  package var sampleRate: UInt32
  /// Encoded bytes a second, of all channels.
  package var bytesPerSecond: UInt32
  /// Encoded bytes that belong together.
  package var blockAlignment: UInt16
  /// Encoded bits of a sample.
  package var bitsPerSample: UInt16

  /// The length without further data of the codec.
  private static let length = 18

  /// The format of a mono stream; nil for a codec that has no number.
  package init?(of codec: Codec) {
    guard let tag = codec.waveFormatTag, let sampleRate = codec.properties.sampleRate else { return nil }
    self.tag = tag
    channels = 1
    self.sampleRate = UInt32(clamping: sampleRate)
    // A byte for each tick of the clock (RFC 3551, 4.5.2 and 4.5.14).
    bytesPerSecond = UInt32(clamping: codec.clockRate)
    blockAlignment = 1
    bitsPerSample = UInt16(clamping: 8 * codec.clockRate / max(1, sampleRate))
  }

  /// Parses the data; nil if it is too short. What follows the fixed fields is ignored, as is their last one, its length.
  package init?(parsing bytes: ByteBuffer) {
    var bytes = bytes
    guard
      let (tag, channels, sampleRate, bytesPerSecond, blockAlignment, bitsPerSample) = bytes.readMultipleIntegers(
        endianness: .little, as: (UInt16, UInt16, UInt32, UInt32, UInt16, UInt16).self)
    else { return nil }
    self.tag = tag
    self.channels = channels
    self.sampleRate = sampleRate
    self.bytesPerSecond = bytesPerSecond
    self.blockAlignment = blockAlignment
    self.bitsPerSample = bitsPerSample
  }

  package var encoded: ByteBuffer {
    var bytes = ByteBuffer()
    bytes.writeMultipleIntegers(
      tag, channels, sampleRate, bytesPerSecond, blockAlignment, bitsPerSample, 0 as UInt16, endianness: .little)
    return bytes
  }
}

extension Codec {
  /// The codec's number in WAVE files (RFC 2361); nil if files name it otherwise.
  package var waveFormatTag: UInt16? {
    switch audio {
    case .pcma: 0x0006
    case .pcmu: 0x0007
    case .g722: 0x028F
    case .opus, nil: nil
    }
  }

  /// Maps the codec id of a Matroska or WebM track.
  ///
  /// - Parameter codecPrivate: the track's private data, which tells apart the codecs of `A_MS/ACM`.
  package init?(matroska id: String, codecPrivate: ByteBuffer) {
    let codec = Self.allCases.first { codec in
      guard codec.properties.matroskaID == id else { return false }
      return codec.waveFormatTag.map { $0 == WaveFormat(parsing: codecPrivate)?.tag } ?? true
    }
    guard let codec else { return nil }
    self = codec
  }
}
