/// Which offered files are accepted from one participant.
package struct FilePolicy: Sendable, Hashable {
  /// Whether any file is accepted.
  package var acceptsFiles: Bool
  /// The maximum size of a file in bytes.
  package var maximumFileBytes: Int64
  /// The maximum size of all files of the participant together: the bytes that were received, and the announced sizes
  /// of the transfers in progress.
  package var maximumTotalBytes: Int64
  /// Whether the binary mode is used when the sender supports it.
  package var acceptsBinary: Bool

  package init(
    acceptsFiles: Bool, maximumFileBytes: Int64 = 100 << 20, maximumTotalBytes: Int64 = 1 << 30,
    acceptsBinary: Bool = true
  ) {
    self.acceptsFiles = acceptsFiles
    self.maximumFileBytes = maximumFileBytes
    self.maximumTotalBytes = maximumTotalBytes
    self.acceptsBinary = acceptsBinary
  }
}
