import Foundation
import TestSupport

/// The times of the flashes and beeps in a recording, on the recording's own timeline.
struct FlashesAndBeeps: Sendable, CustomStringConvertible {
  /// The starts of the flashes in seconds.
  let flashes: [Double]
  /// The starts of the beeps in seconds.
  let beeps: [Double]

  /// Decodes a recording with ffmpeg and finds almost white frames and loud audio.
  init(in recording: Recording) throws {
    flashes = recording.video == nil ? [] : try Self.flashes(in: recording)
    beeps = recording.audio == nil ? [] : try Self.beeps(in: recording)
  }

  /// For each flash, the delay of the nearest beep in seconds.
  var offsets: [Double] {
    flashes.compactMap { flash in beeps.map { $0 - flash }.min { abs($0) < abs($1) } }.filter { abs($0) < 0.45 }
  }

  /// The median of the offsets in seconds; nil without any.
  var offset: Double? {
    offsets.isEmpty ? nil : offsets.sorted()[offsets.count / 2]
  }

  var description: String {
    let all = offsets.map { String(format: "%+.0f", 1000 * $0) }.joined(separator: " ")
    return "\(flashes.count) flashes, \(beeps.count) beeps, audio after video by \(all) ms"
  }

  /// The position of the sample's lamp. A flashing camera is bright everywhere.
  private static let lamp = "crop=iw*0.4:ih*0.1:iw*0.3:ih*0.7"

  private static func flashes(in recording: Recording) throws -> [Double] {
    let measured = try ExternalTool.run(
      "ffmpeg",
      [
        "-v", "error", "-copyts", "-i", recording.file.path, "-map", "0:v", "-fps_mode", "passthrough",
        "-vf", "\(lamp),scale=16:16,signalstats,metadata=print:key=lavfi.signalstats.YAVG:file=-", "-f", "null", "-",
      ])
    // "frame:31   pts:1033    pts_time:1.033", then "lavfi.signalstats.YAVG=234.5"
    let moments = measured.output.matches(of: /pts_time:([\d.-]+)\s+lavfi\.signalstats\.YAVG=([\d.]+)/).compactMap {
      match -> (time: Double, isOn: Bool)? in
      guard let time = Double(match.1), let brightness = Double(match.2) else { return nil }
      return (time, brightness > 170)
    }
    return starts(moments)
  }

  private static func beeps(in recording: Recording) throws -> [Double] {
    let rate = 8000
    let window = rate / 500
    let samples = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).s16")
    defer { try? FileManager.default.removeItem(at: samples) }
    _ = try ExternalTool.run(
      "ffmpeg",
      [
        "-v", "error", "-y", "-copyts", "-i", recording.file.path, "-map", "0:a",
        // A missing packet must shift nothing: without `min_hard_comp`, only gaps of 100 ms or more are filled.
        "-af", "aresample=\(rate):async=1:min_hard_comp=0.005:first_pts=0", "-ac", "1", "-f", "s16le", samples.path,
      ])
    let bytes = [UInt8](try Data(contentsOf: samples))
    let values = stride(from: 0, to: bytes.count - 1, by: 2)
      .map { Double(Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)) }
    let levels = stride(from: 0, to: values.count, by: window).map { start in
      let part = values[start..<min(start + window, values.count)]
      return (part.reduce(0) { $0 + $1 * $1 } / Double(part.count)).squareRoot()
    }
    let seconds = Double(window) / Double(rate)
    return starts(levels.enumerated().map { (time: Double($0.offset) * seconds, isOn: $0.element > 2000) })
  }

  /// Returns the times at which a signal starts after it was off for 300 ms.
  private static func starts(_ moments: [(time: Double, isOn: Bool)]) -> [Double] {
    var found: [Double] = []
    var lastOn = -Double.infinity
    var wasOffOnce = false
    for moment in moments {
      if moment.isOn {
        if wasOffOnce && moment.time - lastOn > 0.3 { found.append(moment.time) }
        lastOn = moment.time
      } else {
        wasOffOnce = true
      }
    }
    return found
  }
}
