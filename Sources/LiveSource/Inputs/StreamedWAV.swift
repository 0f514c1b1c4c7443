import FileSource

/// A WAV file whose writer could not go back to state the size of its samples, as in a pipe: the size of its `data` chunk
/// is 0. libsndfile takes other placeholders for the rest of the file, but 0 for nothing.
enum StreamedWAV {
  /// Bytes of the header to read in place of the file's own.
  struct Correction: Sendable, Hashable {
    var position: UInt64
    var bytes: [UInt8]

    /// Corrects bytes that were read at a position.
    func apply(to buffer: UnsafeMutableRawBufferPointer, at start: UInt64) {
      for (offset, byte) in bytes.enumerated() {
        let place = position + UInt64(offset)
        guard place >= start, place - start < UInt64(buffer.count) else { continue }
        buffer[Int(place - start)] = byte
      }
    }
  }

  /// More chunks than any writer puts in front of the samples.
  private static let maximumChunks = 64

  /// Returns the size of the samples up to the end of the file, as a correction of the header; nil if the header states it,
  /// or if no samples follow.
  static func correction(of file: OpenFile) throws(MediaFile.ReadError) -> Correction? {
    let head = try file.bytes(12, from: 0)
    guard head.starts(with: Array("RIFF".utf8)), head.dropFirst(8).elementsEqual("WAVE".utf8) else { return nil }
    var position: UInt64 = 12
    for _ in 0..<maximumChunks {
      guard let chunk = try Chunk(of: file, at: position) else { return nil }
      if chunk.id.elementsEqual("data".utf8) {
        let first = position + 8
        guard chunk.size == 0, first < file.size, file.size - first < UInt64(UInt32.max),
          try !areChunks(of: file, from: first)
        else { return nil }
        let size = UInt32(file.size - first)
        return Correction(position: position + 4, bytes: (0..<4).map { UInt8(truncatingIfNeeded: size >> ($0 * 8)) })
      }
      position = chunk.end
    }
    return nil
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
