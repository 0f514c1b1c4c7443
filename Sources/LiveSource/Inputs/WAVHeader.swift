package import FileSource

/// What the chunks of a WAV file (RIFF) say of its samples, beside what the program `chatbot-media` reads of them.
package struct WAVHeader: Sendable, Hashable {
  /// Whether the file truly has no samples.
  package private(set) var isEmpty = false
  /// Whether the size of the samples is 0, because the writer could not go back to state it, as in a pipe: they reach to the end of
  /// the file.
  package private(set) var isStreamed = false
  /// Whether the header states a larger size than the file has. The placeholder of a live writer is no such statement.
  package private(set) var isTruncated = false
  /// The samples of each channel that the file has, if all of them have the same size (PCM); nil if that is not known.
  package private(set) var samples: Int64?

  /// More chunks than any writer puts in front of the samples.
  private static let maximumChunks = 64

  /// Reads the headers of chunks. Nothing is known of a file that is not RIFF.
  package init(_ file: OpenFile) throws(MediaFile.ReadError) {
    guard let riff = try Chunk(of: file, at: 0), riff.id.elementsEqual("RIFF".utf8) else { return }
    isTruncated = riff.size < 0x7fff_f000 && UInt64(riff.size) + 8 > file.size
    var position: UInt64 = 12
    var bytesOfAll = 0
    for _ in 0..<Self.maximumChunks {
      guard let chunk = try Chunk(of: file, at: position) else { return }
      if chunk.id.elementsEqual("data".utf8) {
        let first = position + 8
        let areChunks = try Self.areChunks(of: file, from: first)
        isEmpty = first >= file.size || chunk.size == 0 && areChunks
        isStreamed = chunk.size == 0 && !isEmpty
        let stated = chunk.size == 0 || chunk.size == .max ? .max : UInt64(chunk.size)
        let bytes = min(stated, file.size - min(first, file.size))
        if bytesOfAll > 0 { samples = Int64(clamping: bytes / UInt64(bytesOfAll)) }
        return
      }
      if chunk.id.elementsEqual("fmt ".utf8) {
        let format = try file.bytes(16, from: position + 8)
        if format.count == 16 { bytesOfAll = Int(format[12]) | Int(format[13]) << 8 }
      }
      position = chunk.end
    }
  }

  /// What a user may want to know, each as a sentence.
  var notes: [String] {
    var notes: [String] = []
    if isStreamed { notes.append("Its header states no length; it is played to the end of the file.") }
    if isTruncated { notes.append("It is truncated; the samples that exist are played.") }
    return notes
  }

  /// Whether the rest of a file consists of chunks, so that a `data` chunk in front of it is truly empty.
  private static func areChunks(of file: OpenFile, from start: UInt64) throws(MediaFile.ReadError) -> Bool {
    var position = start
    for _ in 0..<maximumChunks {
      guard let chunk = try Chunk(of: file, at: position), chunk.id.allSatisfy({ (0x20...0x7E).contains($0) }) else {
        return false
      }
      // The last one may lack the byte that makes its size even.
      if chunk.end == file.size || chunk.end == file.size + 1 { return true }
      position = chunk.end
    }
    return false
  }

  /// The header of a chunk (RIFF): an id of four characters and a size, then as many bytes, then one to make them even.
  private struct Chunk {
    var id: ArraySlice<UInt8>
    var size: UInt32
    var end: UInt64

    init?(of file: OpenFile, at position: UInt64) throws(MediaFile.ReadError) {
      let header = try file.bytes(8, from: position)
      guard header.count == 8 else { return nil }
      id = header[..<4]
      size = header[4...].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      end = position + 8 + UInt64(size) + UInt64(size & 1)
    }
  }
}
