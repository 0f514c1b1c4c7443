/// Builds WebM files byte by byte, including malformed ones.
enum WebMBuilder {
  /// Builds an element with its size in eight bytes, or with another stated size.
  static func element(_ id: UInt32, _ body: [UInt8], claiming size: UInt64? = nil) -> [UInt8] {
    self.id(id) + bigEndian(0x0100_0000_0000_0000 | (size ?? UInt64(body.count)), bytes: 8) + body
  }

  /// Builds an element of unknown size.
  static func unsized(_ id: UInt32, _ body: [UInt8]) -> [UInt8] {
    self.id(id) + [0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff] + body
  }

  static func number(_ id: UInt32, _ value: UInt64) -> [UInt8] {
    element(id, bigEndian(value, bytes: 8))
  }

  static func text(_ id: UInt32, _ value: String) -> [UInt8] { element(id, Array(value.utf8)) }

  static func header(type: String = "webm") -> [UInt8] { element(0x1A45_DFA3, text(0x4282, type)) }

  static func segment(_ parts: [UInt8]...) -> [UInt8] { element(0x1853_8067, parts.flatMap(\.self)) }

  static func info(timecodeScale: UInt64 = 1_000_000) -> [UInt8] {
    element(0x1549_A966, number(0x2AD7B1, timecodeScale))
  }

  static func tracks(_ entries: [UInt8]...) -> [UInt8] { element(0x1654_AE6B, entries.flatMap(\.self)) }

  static func video(
    number track: UInt64? = 1, codec: String = "V_VP8", interval: UInt64? = nil, extra: [UInt8] = []
  ) -> [UInt8] {
    element(
      0xAE,
      (track.map { number(0xD7, $0) } ?? []) + number(0x83, 1) + text(0x86, codec)
        + (interval.map { number(0x23E383, $0) } ?? []) + extra)
  }

  static func audio(
    number track: UInt64 = 2, codec: String = "A_OPUS", delay: UInt64 = 0, head: [UInt8] = opusHead(),
    extra: [UInt8] = []
  ) -> [UInt8] {
    element(
      0xAE,
      number(0xD7, track) + number(0x83, 2) + text(0x86, codec) + number(0x56AA, delay) + element(0x63A2, head) + extra)
  }

  static func opusHead(channels: UInt8 = 1, family: UInt8 = 0, preSkip: UInt16 = 312) -> [UInt8] {
    Array("OpusHead".utf8) + [1, channels, UInt8(preSkip & 0xff), UInt8(preSkip >> 8), 0x80, 0xbb, 0, 0, 0, 0, family]
  }

  static func cluster(at time: UInt64?, _ blocks: [UInt8]...) -> [UInt8] {
    element(0x1F43_B675, (time.map { number(0xE7, $0) } ?? []) + blocks.flatMap(\.self))
  }

  static func block(track: UInt8, at time: Int16, _ payload: [UInt8], flags: UInt8 = 0) -> [UInt8] {
    element(0xA3, [0x80 | track] + bigEndian(UInt64(UInt16(bitPattern: time)), bytes: 2) + [flags] + payload)
  }

  /// Returns a VP8 keyframe's header and some bytes.
  static func keyframe(width: UInt16 = 64, height: UInt16 = 48) -> [UInt8] {
    [
      0x10, 2, 0, 0x9d, 0x01, 0x2a, UInt8(width & 0xff), UInt8(width >> 8), UInt8(height & 0xff), UInt8(height >> 8), 1,
      2,
    ]
  }

  static let interframe: [UInt8] = [0x11, 2, 0, 1, 2, 3]
  /// 20 ms of silence.
  static let opus20ms: [UInt8] = [0xf8, 0xff, 0xfe]

  static func bigEndian(_ value: UInt64, bytes: Int) -> [UInt8] {
    (0..<bytes).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (bytes - 1 - $0))) }
  }

  private static func id(_ id: UInt32) -> [UInt8] {
    Array(bigEndian(UInt64(id), bytes: 4).drop { $0 == 0 })
  }
}
