/// What came back of the pattern that we sent, counted picture by picture from the first that came back on.
///
/// A picture that did not come back counts as missing once a later one came back, or when it had 2 s to do so.
public struct ReturnReport: Sendable, Hashable, Codable {
  /// Pictures that we sent and that had the time to come back.
  public var sent: Int
  /// Those of them that came back.
  public var returned: Int
  /// Those that did not.
  public var missing: Int
  /// Pictures that came back once more.
  public var doubled: Int
  /// Pictures that came back after one that was sent later.
  public var reordered: Int
  /// `returned` of `sent`.
  public var ratio: Double
  /// From sending a picture to its return, in seconds.
  public var roundTrip: Spread?
}
