/// A picture's width and height in pixels.
public struct PictureSize: Sendable, Hashable, CustomStringConvertible {
  public var width: Int
  public var height: Int

  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// For example `640x480`.
  public var description: String { "\(width)x\(height)" }
}
