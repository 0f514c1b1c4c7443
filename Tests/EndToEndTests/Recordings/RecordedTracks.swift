import Foundation

/// The manifest of a user and the files that it lists, whatever their containers are.
struct RecordedTracks: Sendable {
  let manifest: JSON
  /// The files with video, and those with audio alone, in the order of the manifest.
  let videos: [Recording]
  let audios: [Recording]

  /// Reads a manifest and its files.
  init(describedBy description: URL) throws {
    let manifest = try JSON(parsing: String(contentsOf: description, encoding: .utf8))
    let folder = description.deletingLastPathComponent()
    func recordings(_ kinds: Set<String>) throws -> [Recording] {
      try manifest["files"].list.filter { kinds.contains($0["kind"].string ?? "") }.compactMap { $0["name"].string }
        .map { try Recording(folder.appendingPathComponent($0)) }
    }
    self.manifest = manifest
    videos = try recordings(["webm", "mkv"])
    audios = try recordings(["ogg", "mka"])
  }

  /// Returns the manifest's entry of a track.
  func track(_ kind: String) -> JSON {
    manifest["tracks"].list.first { $0["kind"].string == kind } ?? .null
  }
}

extension RecordingFolder {
  /// Returns what was recorded of the only user.
  func onlyUser() throws -> RecordedTracks {
    let manifests = files("json")
    guard manifests.count == 1 else {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
      throw Incomplete(folder: path, files: names.sorted())
    }
    return try RecordedTracks(describedBy: manifests[0])
  }
}
