import FoundationEssentials

/// The media files of a page.
extension HTMLReport {
  /// The bytes of a file to embed, or nil if there are more than the limit or it cannot be read.
  package static func bytes(of file: String, most: Int) -> [UInt8]? {
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
