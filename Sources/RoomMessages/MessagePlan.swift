/// What a call says, offers and accepts.
public struct MessagePlan: Sendable, Hashable {
  /// What is said to each user when they are connected.
  public var texts: [String] = []
  /// The paths of the files to offer.
  public var sentFiles: [String] = []
  /// The folder for the files of users; nil to refuse them.
  public var receivedFiles: String?
  /// The maximum size of a received file in bytes, at most 2^50.
  public var maximumFileBytes: Int64 = 100_000_000

  public init() {}
}
