/// A time without the room's server.
public struct SignallingLoss: Sendable, Hashable, Codable {
  public var start: Double
  public var duration: Double
  /// Whether the server was there again; else it was lost to the end.
  public var regained: Bool
  /// What was said about it.
  public var reason: String

  public init(start: Double, duration: Double, regained: Bool, reason: String) {
    self.start = start
    self.duration = duration
    self.regained = regained
    self.reason = reason
  }
}
