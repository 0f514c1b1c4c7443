import NIOCore

/// Bytes that belong at one place of a file: what the writers give and `Storage` carries out.
///
/// The place is part of the value, so a write that failed halfway can be done again as it is.
struct FileWrite: Sendable, Hashable {
  /// Bytes from the start of the file.
  let offset: Int64
  let bytes: ByteBuffer
}
