package import NIOCore

/// The file of a manifest that is rewritten repeatedly. While the recording grows, the text is padded with blanks, so
/// that a longer text fits even when the disk is full.
package struct ManifestFile {
  /// The usual allocation unit of a file system.
  private static let block = 4_096
  /// The space kept for a longer text.
  private static let reserve = 3_072

  private let name: String
  private let folder: RecordingDirectory
  /// Locked for as long as it is kept, to show that it is being written.
  private var file: OutputFile
  private var content: ByteBuffer

  /// Creates the file, which must not exist.
  package init(_ name: String, in folder: RecordingDirectory, text: ByteBuffer) throws(RoomRecorder.StorageError) {
    self.name = name
    self.folder = folder
    content = Self.padded(text)
    file = try folder.create(name, containing: content)
  }

  /// Replaces the whole text. If there is no space for a second file, the old text is overwritten.
  ///
  /// - Parameter isLast: whether this text is final and must be on the disk before the method returns.
  package mutating func replace(_ text: ByteBuffer, isLast: Bool) throws(RoomRecorder.StorageError) {
    let new = isLast ? text : Self.padded(text)
    do {
      file = try folder.replace(name, with: new, durably: isLast)
      content = new
    } catch {
      if !overwrite(text, isLast: isLast) { throw error }
    }
  }

  /// - Returns: whether the text fitted and was written.
  private mutating func overwrite(_ text: ByteBuffer, isLast: Bool) -> Bool {
    guard text.readableBytes <= content.readableBytes else { return false }
    let new = Self.padded(text, to: content.readableBytes)
    do throws(RoomRecorder.StorageError) {
      try file.write(FileWrite(offset: 0, bytes: new))
      if isLast { try file.sync() }
      content = new
      return true
    } catch {
      // A part may have been written; restore the old text.
      try? file.write(FileWrite(offset: 0, bytes: content))
      return false
    }
  }

  private static func padded(_ text: ByteBuffer) -> ByteBuffer {
    padded(text, to: (text.readableBytes + reserve + block - 1) / block * block)
  }

  private static func padded(_ text: ByteBuffer, to length: Int) -> ByteBuffer {
    var text = text
    text.writeRepeatingByte(UInt8(ascii: " "), count: max(0, length - text.readableBytes))
    return text
  }
}
