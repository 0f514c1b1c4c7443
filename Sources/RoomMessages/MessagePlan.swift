/// What a call says, offers and accepts.
package struct MessagePlan: Sendable, Hashable {
  /// What is said to each user when they are connected.
  package var texts: [String] = []
  /// The paths of the files to offer.
  package var sentFiles: [String] = []
  /// The folder for the files of users; nil to refuse them.
  package var receivedFiles: String?
  /// The maximum size of a received file in bytes, at most 2^50.
  package var maximumFileBytes: Int64 = 100_000_000

  package init() {}
}
