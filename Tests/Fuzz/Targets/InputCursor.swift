import NIOCore

/// Splits an input into several values.
struct InputCursor {
  private var rest: ArraySlice<UInt8>

  init(_ input: [UInt8]) {
    rest = input[...]
  }

  var isAtEnd: Bool { rest.isEmpty }

  /// Removes and returns the next byte; 0 after the end.
  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  /// Removes and returns the next bytes; fewer at the end.
  mutating func bytes(_ count: Int) -> [UInt8] {
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  /// Removes and returns bytes that follow their count in one byte.
  mutating func counted() -> ByteBuffer {
    let count = Int(byte())
    return ByteBuffer(bytes: bytes(count))
  }

  /// Removes and returns all remaining bytes.
  mutating func remainder() -> [UInt8] { bytes(rest.count) }
}

/// A SplitMix64 generator, so that random numbers are the same for every input.
struct FixedGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// Returns the bytes that a closure writes.
func written(_ write: (inout ByteBuffer) -> Void) -> ByteBuffer {
  var buffer = ByteBuffer()
  write(&buffer)
  return buffer
}
