import NIOCore

/// The file of a manifest that is written again and again. While the recording grows, it is longer than its text, by blanks:
/// so there is room for what is to be told when the disk is full.
struct ManifestFile {
  /// What a file system gives at once, as a rule.
  private static let block = 4_096
  /// The text may become so much longer.
  private static let reserve = 3_072

  private let name: String
  private let folder: RecordingDirectory
  /// Marked as being written for as long as it is kept.
  private var file: OutputFile
  private var content: ByteBuffer

  /// Makes the file, which must not be there.
  init(_ name: String, in folder: RecordingDirectory, text: ByteBuffer) throws(RoomRecorder.StorageError) {
    self.name = name
    self.folder = folder
    content = Self.padded(text)
    file = try folder.create(name, containing: content)
  }

  /// Replaces the text as a whole; where there is no room for a second file, it is written over the old text.
  ///
  /// - Parameter isLast: whether it stays as it is then, and must be on the disk before this returns.
  mutating func replace(_ text: ByteBuffer, isLast: Bool) throws(RoomRecorder.StorageError) {
    let new = isLast ? text : Self.padded(text)
    do {
      file = try folder.replace(name, with: new, durably: isLast)
      content = new
    } catch {
      if !overwrite(text, isLast: isLast) { throw error }
    }
  }

  /// - Returns: whether there was room for it.
  private mutating func overwrite(_ text: ByteBuffer, isLast: Bool) -> Bool {
    guard text.readableBytes <= content.readableBytes else { return false }
    let new = Self.padded(text, to: content.readableBytes)
    do throws(RoomRecorder.StorageError) {
      try file.write(FileWrite(offset: 0, bytes: new))
      if isLast { try file.sync() }
      content = new
      return true
    } catch {
      // A part may be there.
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
