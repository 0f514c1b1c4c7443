import Foundation
import Media
import TestSupport
import Testing

/// The frames of a recorded test pattern as ffmpeg shows them, in the order of output.
struct ShownFrames: Sendable {
  struct Frame: Sendable {
    /// When it is shown, in seconds of the file.
    let time: Double
    let width: Int
    let height: Int
    /// The painted number; nil if it cannot be read.
    var number: Int?
  }

  let frames: [Frame]

  /// Decodes the video of a file.
  ///
  /// - Parameters:
  ///   - size: to which frames are scaled before their number is read.
  ///   - scratch: a folder for temporary files.
  init(of recording: Recording, size: VideoSize, scratch: URL) throws {
    let probed = try ExternalTool.run(
      "ffprobe",
      [
        "-v", "error", "-select_streams", "v", "-show_frames", "-show_entries", "frame=pts_time,width,height", "-of",
        "json", recording.file.path,
      ])
    var frames = try JSON(parsing: probed.output)["frames"].list.map { frame in
      Frame(
        time: frame["pts_time"].double ?? .nan, width: frame["width"].int ?? 0, height: frame["height"].int ?? 0)
    }
    var position = 0
    for read in try RecordedPattern.frames(in: recording.file, size: size, scratch: scratch) {
      position += read.unreadable
      if frames.indices.contains(position) { frames[position].number = read.number }
      position += 1
    }
    self.frames = frames
  }

  var count: Int { frames.count }

  /// The numbers that could be read.
  var numbers: [Int] { frames.compactMap(\.number) }

  /// The sizes of frames in their order, each once where it does not change.
  var sizes: [String] {
    frames.map { "\($0.width)x\($0.height)" }.reduce(into: []) { sizes, size in
      if sizes.last != size { sizes.append(size) }
    }
  }

  /// Returns the frames from the first to the last one with these numbers, also those between them that cannot be read.
  func frames(of numbers: ClosedRange<Int>) -> ArraySlice<Frame> {
    func isIn(_ frame: Frame) -> Bool { frame.number.map(numbers.contains) ?? false }
    guard let first = frames.firstIndex(where: isIn), let last = frames.lastIndex(where: isIn) else { return [] }
    return frames[first...last]
  }

  /// Checks that numbers and times grow with each frame.
  func expectGrowing() {
    let times = zip(frames, frames.dropFirst())
    let late = times.filter { !($1.time > $0.time) }.map { "\($0.time) then \($1.time)" }
    #expect(late.isEmpty, "each frame is shown after the one before it")
    let numbers = numbers
    let wrong = zip(numbers, numbers.dropFirst()).filter { $1 <= $0 }.map { "\($0) then \($1)" }
    #expect(wrong.isEmpty, "frames are shown in the order in which they were painted")
  }

  /// Checks that each frame was painted directly after the one before it, and is shown one frame later.
  ///
  /// A sender that ends does not send what the last frames are shown after.
  func expectConsecutive(framesPerSecond: Double) {
    expectGrowing()
    let whole = frames.dropLast(3)
    let late = zip(whole, whole.dropFirst()).filter { abs($1.time - $0.time - 1 / framesPerSecond) > 0.002 }
    let times = late.prefix(10).map { "\($0.number ?? -1) at \($0.time), then \($1.number ?? -1) at \($1.time)" }
    #expect(late.isEmpty, "\(late.count) frames are not shown one frame after the one before: \(times)")
    // An encoder with few bits may blur one.
    let read = whole.enumerated().compactMap { position, frame in frame.number.map { (position, $0) } }
    #expect(read.count * 20 >= whole.count * 19, "\(read.count) of \(whole.count) frames can be read")
    let wrong = zip(read, read.dropFirst()).filter { $1.1 - $0.1 != $1.0 - $0.0 }.map { "\($0.1) then \($1.1)" }
    #expect(wrong.isEmpty, "frames are not painted directly after the one before: \(wrong.prefix(10))")
  }
}
