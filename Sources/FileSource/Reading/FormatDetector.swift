/// Tells a file's format by its first bytes.
package enum FormatDetector {
  /// How many of a file's first bytes are looked at.
  package static let length = 16

  /// The format to read a file as.
  ///
  /// - Throws: the name of what else it is, where that can be told.
  static func format(_ beginning: [UInt8]) throws(MediaFile.ReadError) -> MediaFile.Format {
    if beginning.starts(with: [0x1a, 0x45, 0xdf, 0xa3]) { return .webM }
    if beginning.starts(with: Array("OggS".utf8)) { return .ogg }
    if beginning.starts(with: Array("DKIF".utf8)) { return .ivf }
    throw .otherFormat(looksLike: name(beginning))
  }

  /// What a file is by its first bytes, with an article; nil when they do not tell.
  package static func name(_ beginning: [UInt8]) -> String? {
    let known: [(offset: Int, mark: String, name: String)] = [
      (4, "ftyp", "an MP4 or QuickTime file"), (8, "WAVE", "a WAV file"), (8, "AVI ", "an AVI file"),
      (0, "YUV4MPEG2", "a Y4M file"), (0, "fLaC", "a FLAC file"), (0, "ID3", "an MP3 file"),
      (0, "FLV", "a Flash video"), (1, "PNG", "a PNG frame"), (0, "GIF8", "a GIF frame"), (0, "#!", "a script"),
      (0, "{", "JSON text"), (0, "<", "HTML or XML text"),
    ]
    for (offset, mark, name) in known where beginning.dropFirst(offset).starts(with: mark.utf8) { return name }
    return nil
  }
}
