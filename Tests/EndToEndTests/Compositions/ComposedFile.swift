import Foundation
import RecordedCalls
import TestSupport

/// What the reader in `Tests/Interop/composition-reader.py` finds in a composed file.
struct ComposedFile: Decodable {
  /// The pattern of one stream of a user. Frames are numbered from the beginning of the file, or of the part that is read.
  struct Stream: Decodable {
    struct Place: Decodable, Equatable {
      let from: Int
      /// x, y, width and height.
      let at: [Int]
    }

    let first: Int
    let last: Int
    let count: Int
    let places: [Place]
    /// How often the pattern's time went back.
    let back: Int
    /// The frames between first and last in which the pattern is not.
    let gone: Int
    /// The first frame of each span of dimmed frames, and the one after its end.
    let dim: [Int]
    /// How often the lamp was not what the pattern's time says.
    let lamp: Int
    /// The least and the greatest difference between the time of a frame and that of the pattern in it, in milliseconds.
    let lowest: Double
    let highest: Double
    /// How often the pattern was in a frame twice.
    let twice: Int?
  }

  struct Marks: Decodable {
    let count: Int
    let first: Double
    let last: Double
    /// The least and the greatest difference between the place of a mark and the moment that it says, in milliseconds.
    let lowest: Double
    let highest: Double
  }

  struct Spread: Decodable {
    let most: Double
    let frame: Int?
    /// In how many frames it is more than 36 ms.
    let wide: Int
  }

  let width: Int?
  let height: Int?
  let rate: String?
  let codec: String?
  let sound: String?
  let channels: Int?
  let sampleRate: Int?
  let frames: Int
  /// Frames whose time is not that of their number.
  let irregular: Int?
  let streams: [String: Stream]
  let marks: [String: Marks]
  /// Marks that belong to no user.
  let strange: Int
  let spread: Spread?
  /// The greatest absolute value of the sound, and the amplitude of each tone in each 20 ms, if tones were asked for.
  let peak: Double?
  let tones: [[Double]]?
  /// Of each region luma, its deviation, blue and red in each frame.
  let regions: [[[Double]]]

  struct NotRead: Error, CustomStringConvertible {
    let file: String
    let errors: String

    var description: String { "\(file) cannot be read: \(errors)" }
  }

  /// Reads a file.
  ///
  /// - Parameters:
  ///   - call: the call that was composed; its users have different clocks. Nil for bots, who have the same.
  ///   - beginning: the moment of the file's beginning, in milliseconds since 1970; nil for that of a synthetic call.
  ///   - part: the part of the file to read, in seconds.
  ///   - tones: frequencies in Hz.
  ///   - regions: x, y, width and height of rectangles whose brightness is measured.
  static func read(
    _ file: URL, of call: RecordedCall? = nil, beginning: Double? = nil, part: Range<Double>? = nil,
    regions: [[Int]] = [], tones: [Double] = []
  ) throws -> ComposedFile {
    let script = BuiltProgram.repository.appendingPathComponent("Tests/Interop/composition-reader.py")
    var arguments = [script.path, file.path]
    for user in call?.users ?? [] {
      arguments += ["--shift", "\(user.pattern)=\(user.shift)", "--speed", "\(user.pattern)=\(user.speed)"]
    }
    if let beginning { arguments += ["--base", "\(beginning)"] }
    if let part { arguments += ["--skip", "\(part.lowerBound)", "--seconds", "\(part.upperBound - part.lowerBound)"] }
    for tone in tones { arguments += ["--tone", "\(tone)"] }
    for region in regions { arguments += ["--region", region.map(String.init).joined(separator: ",")] }
    let result = try ExternalTool.run("python3", arguments, limit: 300)
    guard result.status == 0 else { throw NotRead(file: file.lastPathComponent, errors: result.errors) }
    return try JSONDecoder().decode(ComposedFile.self, from: Data(result.output.utf8))
  }
}
