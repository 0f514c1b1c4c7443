/// How the measurements of one thing are spread.
public struct Spread: Sendable, Hashable, Codable {
  /// How many there were.
  public var count: Int
  /// The one in the middle.
  public var p50: Double
  /// 95 of 100 are at most this; of values with a sign the one that has this size.
  public var p95: Double
  /// The largest; of values with a sign the one of the largest size.
  public var worst: Double
}
