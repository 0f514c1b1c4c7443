import Foundation

/// When users come and go, as the manifests of a folder say, in seconds of the composition.
struct ManifestTimes {
  struct User {
    /// The id of the user, and the number of the stream.
    let id: String
    let stream: Int
    let begin: Double
    let end: Double
    /// Where each track begins, and where it ends.
    let tracks: [String: Double]
    let ends: [String: Double]
    /// The codec of the video at its start, and after each change of it or of its profile.
    let videoCodecs: [String]

    /// The output frames in which the tile appears and has vanished, at 30 frames a second.
    var frames: Range<Int> { ManifestTimes.frame(begin)..<ManifestTimes.frame(end) }
  }

  let users: [User]

  /// The first frame of 30 a second that is not before a time. Manifests have milliseconds.
  static func frame(_ time: Double) -> Int { Int((time * 30 - 1e-6).rounded(.up)) }

  init(_ folder: URL) throws {
    let manifests = try RecordingFolder(url: folder).files("json").compactMap { file -> JSON? in
      let manifest = try JSON(parsing: String(contentsOf: file, encoding: .utf8))
      return manifest["session"]["offset"].double == nil ? nil : manifest
    }
    let zero = manifests.compactMap { $0["session"]["offset"].double }.min() ?? 0
    users = manifests.map { manifest in
      let begin = ((manifest["session"]["offset"].double ?? 0) - zero)
      let tracks = manifest["tracks"].list.map { ($0["kind"].string ?? "", begin + ($0["start"].double ?? 0)) }
      let ends = manifest["tracks"].list.map {
        ($0["kind"].string ?? "", begin + ($0["start"].double ?? 0) + ($0["duration"].double ?? 0))
      }
      return User(
        id: manifest["user"].string ?? "", stream: manifest["stream"]["number"].int ?? 1, begin: begin,
        end: begin + (manifest["duration"].double ?? 0), tracks: Dictionary(tracks) { one, _ in one },
        ends: Dictionary(ends) { one, _ in one },
        videoCodecs: manifest["tracks"].list.filter { $0["kind"].string == "video" }.flatMap {
          $0["codecs"].list.compactMap { $0["codec"].string }
        })
    }
  }

  subscript(id: String, stream: Int = 1) -> User? { users.first { $0.id == id && $0.stream == stream } }

  /// The frames in which the number of tiles changes, without the first frame and the end.
  var changes: Set<Int> {
    let end = users.map(\.frames.upperBound).max() ?? 0
    return Set(users.flatMap { [$0.frames.lowerBound, $0.frames.upperBound] }).filter { $0 > 0 && $0 < end }
  }
}
