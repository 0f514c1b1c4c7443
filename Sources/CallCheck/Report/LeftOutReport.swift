/// Pictures of a peer that came and were not looked at, because the checking program's machine did not keep up with decoding. What
/// they would have shown was not measured, and no rule about it holds.
public struct LeftOutReport: Sendable, Hashable, Codable {
  /// How many.
  public var pictures: Int
  /// When the first and the last of them came.
  public var first: Double
  public var last: Double

  public init(pictures: Int, first: Double, last: Double) {
    self.pictures = pictures
    self.first = first
    self.last = last
  }

  /// Why a measurement cannot be told, as a clause.
  var clause: String {
    "this machine could not decode all that came: \(pictures) \(pictures == 1 ? "picture was" : "pictures were") left out"
  }
}
