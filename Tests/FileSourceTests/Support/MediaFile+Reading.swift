import FileSource
import Media

extension MediaFile {
  /// Returns all frames of a track, as they are played.
  func frames(_ kind: MediaKind) throws -> [FileFrame] {
    guard let track = track(kind) else { return [] }
    let reader = try reader(of: track)
    var frames: [FileFrame] = []
    while let frame = try reader.next() { frames.append(frame) }
    return frames
  }

  /// Returns the times of a track's frames in ticks of its clock.
  func ticks(_ kind: MediaKind) throws -> [Int64] {
    let unit = MediaTimebase.units(perTickOf: kind)
    return try frames(kind).map { ($0.time + unit / 2) / unit }
  }

  /// Returns why a file is refused; nil if it is not.
  static func rejection(_ path: String) -> String? {
    do {
      _ = try MediaFile(opening: path)
      return nil
    } catch {
      return error.description.replacing("\(path) ", with: "")
    }
  }
}
