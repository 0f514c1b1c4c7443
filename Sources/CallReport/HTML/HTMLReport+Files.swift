import FoundationEssentials

/// The media files of a page.
extension HTMLReport {
  /// The media files of a page: small files are embedded while there is room, in their order, and the others are linked.
  ///
  /// - Parameters:
  ///   - path: The path that the page will have.
  ///   - isLinking: Whether the other files stay where they are. If not, they are left out.
  package static func recordings(
    _ files: [String], forPageAt path: String, isLinking: Bool = true
  ) -> [String: Recording] {
    var recordings: [String: Recording] = [:]
    var left = maximumTotalEmbedded
    for file in files where recordings[file] == nil {
      // Browsers play no IVF.
      if !file.hasSuffix(".ivf"), let bytes = bytes(of: file, most: min(left, maximumEmbedded)) {
        left -= bytes.count
        recordings[file] = .bytes(bytes)
      } else if isLinking {
        recordings[file] = .file(link(to: file, from: path))
      }
    }
    return recordings
  }

  /// The bytes of a file to embed, or nil if there are more than the limit or it cannot be read.
  static func bytes(of file: String, most: Int) -> [UInt8]? {
    // The type of the number depends on which Foundation is linked.
    guard let attribute = (try? FileManager.default.attributesOfItem(atPath: file))?[.size],
      let size = attribute as? Int ?? (attribute as? UInt).flatMap({ Int(exactly: $0) })
        ?? (attribute as? UInt64).flatMap({ Int(exactly: $0) }),
      size <= most
    else { return nil }
    return FileManager.default.contents(atPath: file).map { Array($0) }
  }

  /// The path of a file relative to the folder of a page.
  package static func link(to file: String, from page: String) -> String {
    let target = URL(fileURLWithPath: file).standardizedFileURL.pathComponents
    let start = URL(fileURLWithPath: page).deletingLastPathComponent().standardizedFileURL.pathComponents
    let common = zip(target, start).prefix { $0 == $1 }.count
    return (Array(repeating: "..", count: start.count - common) + target.dropFirst(common)).joined(separator: "/")
  }
}
