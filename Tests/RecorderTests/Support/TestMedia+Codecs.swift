import Bitstream
import Foundation
import Media
import NIOCore
import TestSupport
import Testing

/// Streams of H.264, G.711 and G.722 that ffmpeg encodes.
extension TestMedia {
  /// Frames of H.264 at 30 a second by libx264 without B-frames, with parameter sets in each keyframe.
  static func h264(
    _ seconds: Double, size: VideoSize = VideoSize(width: 160, height: 120), keyframeEvery distance: Int = 30,
    profile: String = "baseline"
  ) throws -> [Piece] {
    let stream = try output(
      "-f", "lavfi", "-i", "testsrc=size=\(size):rate=30", "-t", "\(seconds)", "-c:v", "libx264", "-profile:v", profile,
      "-preset", "veryfast", "-tune", "zerolatency", "-pix_fmt", "yuv420p", "-g", "\(distance)", "-keyint_min",
      "\(distance)", "-sc_threshold", "0", "-bf", "0", "-x264-params", "aud=1:repeat-headers=1:sliced-threads=0", "-f",
      "h264")
    return try H264Stream.frames(annexB: stream).enumerated().map { index, payload in
      let header = try #require(FrameHeader(parsing: payload, of: .h264).video)
      return Piece(
        ticks: Int64(index) * 3_000, payload: payload, isKeyframe: header.isKeyframe, size: header.size)
    }
  }

  /// Frames of H.264 at 30 a second with B-frames, in decoding order: groups of three, and a keyframe each second.
  ///
  /// - Parameter structure: what libx264 is told of B-frames.
  static func bidirectional(
    _ seconds: Double, size: VideoSize = VideoSize(width: 160, height: 120),
    structure: String = "bframes=2:b-pyramid=none"
  ) throws -> [Piece] {
    let stream = try output(
      "-f", "lavfi", "-i", "testsrc=size=\(size):rate=30", "-t", "\(seconds)", "-c:v", "libx264", "-preset", "veryfast",
      "-pix_fmt", "yuv420p", "-x264-params",
      "aud=1:repeat-headers=1:b-adapt=0:scenecut=0:ref=4:keyint=30:min-keyint=30:\(structure)", "-f", "h264")
    var sets = H264ParameterSets()
    var counter = H264PictureOrderCounter()
    var latest: Int64 = -1
    return try H264Stream.frames(annexB: stream).enumerated().map { index, payload in
      let header = try #require(FrameHeader(parsing: payload, of: .h264).video)
      var order: PictureOrder?
      for unit in H264NALUnits(payload) {
        if unit.type.isParameterSet { sets.insert(unit.bytes) }
        guard unit.type.isSlice, order == nil, let sequence = sets.sequence(for: 0) else { continue }
        order = counter.add(
          try H264SliceHeader(parsing: unit.bytes, parameters: sequence, picture: sets.picture(0)), sequence)
      }
      let place = Int64(index / 30 * 30) + (try #require(order).count) / 2
      let isReordered = place < latest
      latest = max(latest, place)
      return Piece(
        ticks: place * 3_000, payload: payload, isKeyframe: header.isKeyframe, size: header.size,
        isReordered: isReordered)
    }
  }

  /// Returns how late each frame of a stream with B-frames is, by its number, if they arrive in decoding order, one each 1/30 s.
  static func delays(of pieces: [Piece]) -> @Sendable (Int) -> Double {
    let ticks = pieces.map(\.ticks)
    return { number in 0.01 + Double(number) / 30 - Double(ticks[number]) / 90_000 }
  }

  /// A tone in packets of 20 ms of G.711 or G.722.
  static func octets(_ seconds: Double, codec: Codec) throws -> [Piece] {
    let format: String
    switch codec {
    case .pcmu: format = "mulaw"
    case .pcma: format = "alaw"
    default: format = "g722"
    }
    let stream = try output(
      "-f", "lavfi", "-i", "sine=frequency=440:sample_rate=\(codec.properties.sampleRate ?? 8_000)", "-t", "\(seconds)",
      "-f", format)
    return stride(from: 0, to: stream.count - 159, by: 160).map { offset in
      Piece(ticks: Int64(offset), payload: ByteBuffer(bytes: stream[offset..<(offset + 160)]))
    }
  }

  /// Returns what ffmpeg writes.
  private static func output(_ arguments: String...) throws -> [UInt8] {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).raw")
    defer { try? FileManager.default.removeItem(at: file) }
    let result = try ExternalTool.run("ffmpeg", ["-v", "error", "-nostdin"] + arguments + [file.path])
    try #require(result.status == 0, "\(result.errors)")
    return [UInt8](try Data(contentsOf: file))
  }
}

extension [TestMedia.Piece] {
  /// The stream followed by another one.
  func followed(by other: [TestMedia.Piece], after ticks: Int64) -> [TestMedia.Piece] {
    let start = (last?.ticks ?? -ticks) + ticks
    return self
      + other.map { piece in
        var piece = piece
        piece.ticks += start
        return piece
      }
  }
}
