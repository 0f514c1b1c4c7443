import Foundation

/// The folder that a bot records into.
struct RecordingFolder: Sendable {
  let url: URL

  var path: String { url.path }

  /// Returns all files with that extension, sorted by name; without the summaries of calls, which are no manifests.
  func files(_ kind: String) -> [URL] {
    ((try? FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil)) ?? [])
      .filter { $0.pathExtension == kind && !$0.lastPathComponent.hasSuffix(".session.json") }
      .sorted { $0.lastPathComponent < $1.lastPathComponent }
  }

  /// The files of one user.
  struct UserRecording: Sendable {
    let webm: Recording
    let ogg: Recording
    let manifest: JSON
  }

  struct Incomplete: Error, CustomStringConvertible {
    let folder: String
    let files: [String]

    var description: String {
      "\(folder) should hold a .webm, an .ogg and a .json for each user, but holds \(files.joined(separator: ", "))."
    }
  }

  /// Returns the files of every user who sent a frame, sorted by name.
  func userRecordings() throws -> [UserRecording] {
    let found = files("webm")
    let userRecordings = try found.compactMap { webm -> UserRecording? in
      let ogg = webm.deletingPathExtension().appendingPathExtension("ogg")
      let manifest = webm.deletingPathExtension().appendingPathExtension("json")
      guard FileManager.default.fileExists(atPath: ogg.path), FileManager.default.fileExists(atPath: manifest.path)
      else { return nil }
      return UserRecording(
        webm: try Recording(webm), ogg: try Recording(ogg),
        manifest: try JSON(parsing: String(contentsOf: manifest, encoding: .utf8)))
    }
    guard userRecordings.count == found.count, !userRecordings.isEmpty else {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
      throw Incomplete(folder: path, files: names.sorted())
    }
    return userRecordings
  }
}
