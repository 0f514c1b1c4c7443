/// The clock of a user: it counts from the beginning of the call, and may be faster or slower than that of the recorder.
struct SenderClock: Sendable, Hashable {
  /// The beginning of every call: 2026-03-01 09:30:00 UTC, in milliseconds since 1970.
  static let beginning: Int64 = 1_772_357_400_000

  let speed: Double
  /// In milliseconds.
  let shift: Int

  /// Returns the reading at a time of the call, both in seconds.
  func reading(at time: Double) -> Double { time * speed }

  /// Returns the time of the call at a reading, both in seconds.
  func time(of reading: Double) -> Double { reading / speed }

  /// Returns what the pattern shows at a reading in seconds, in milliseconds since 1970.
  func shown(at reading: Double) -> Int64 { Self.beginning + Int64(shift) + Int64((reading * 1_000).rounded()) }

  /// The first sample of the pattern's audio that belongs to reading zero.
  var firstSample: Int64 { (Self.beginning + Int64(shift)) * 48 }
}
