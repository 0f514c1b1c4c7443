import Bitstream
import FileSource
import Foundation
import Media
import NIOCore
import TestSupport
import Testing

@Suite("AV1 and H.265 in files")
struct StoredCodecTests {
  typealias W = WebMBuilder

  let folder: ScratchFolder

  init() throws {
    folder = try ScratchFolder()
  }

  private func read(_ path: String) throws -> (track: StoredTrack, frames: [FileFrame]) {
    let file = try StoredFile(opening: path, accepting: Set(Codec.allCases))
    let track = try #require(file.track(.video))
    let reader = try file.reader(of: track)
    var frames: [FileFrame] = []
    while let frame = try reader.next() { frames.append(frame) }
    return (track, frames)
  }

  @Test(
    "AV1 is read from every container in the form of a call, with a sequence header in each keyframe",
    arguments: ["a.webm", "a.mkv", "a.mp4", "a.ivf"], ["libaom-av1", "libsvtav1"])
  func av1(name: String, encoder: String) throws {
    let speed = encoder == "libsvtav1" ? ["-preset", "12"] : ["-usage", "realtime", "-cpu-used", "8"]
    let path = try make(name, ["-c:v", encoder] + speed)
    let (track, frames) = try read(path)
    #expect(track.codec == .av1 && track.size == VideoSize(width: 128, height: 96) && track.encodingReason == nil)
    #expect(frames.count == 50 && frames.filter(\.isKeyframe).count == 2 && track.skippedFrames == 0)
    for frame in frames {
      let obus = AV1OBUs(frame.payload).map(\.type)
      let areKept = obus.allSatisfy { $0.isKept }
      #expect(areKept && obus.contains(.sequenceHeader) == frame.isKeyframe)
    }
    let keyframe = try #require(frames.first { $0.isKeyframe })
    #expect(AV1Bitstream.profile(of: keyframe.payload)?.hasPrefix("av01.0.") == true)
  }

  /// Makes a file of two seconds with a keyframe each.
  private func make(_ name: String, _ arguments: [String]) throws -> String {
    let path = folder.path(name)
    let all = ["-f", "lavfi", "-i", "testsrc2=s=128x96:r=25:d=2", "-pix_fmt", "yuv420p", "-g", "25"] + arguments
    let result = try ExternalTool.run("ffmpeg", ["-v", "error", "-nostdin", "-y"] + all + [path])
    try #require(result.status == 0, "ffmpeg \(all): \(result.errors)")
    return path
  }

  @Test("a keyframe of AV1 without its sequence header gets that of the private data, and delimiters are left out")
  func sequenceHeader() throws {
    let (_, frames) = try read(try make("a.webm", ["-c:v", "libaom-av1", "-usage", "realtime", "-cpu-used", "8"]))
    let record = try #require(AV1Bitstream.codecPrivate(of: frames[0].payload, maximumLength: 2_048))
    let framing = try #require(AV1Bitstream.framing(codecPrivate: Array(record.readableBytesView)))
    var bare = ByteBuffer(bytes: [0x12, 0x00])
    for obu in AV1OBUs(frames[0].payload) where obu.type != .sequenceHeader { obu.write(into: &bare) }
    bare.writeBytes([0x7A, 0x02, 0x80, 0x00])
    #expect(framing.frame(bare) == frames[0].payload)
    #expect(framing.frame(frames[1].payload) == frames[1].payload)
    #expect(framing.frame(ByteBuffer()) == nil && framing.frame(ByteBuffer(bytes: [0x12, 0x00])) == nil)
    #expect(framing.frame(ByteBuffer(bytes: [0x32, 0x7F, 0x00])) == nil)
    // Without usable private data frames are what they are.
    let other = try #require(AV1Bitstream.framing(codecPrivate: [1, 2, 3]))
    #expect(other.frame(frames[0].payload) == frames[0].payload)
  }

  @Test(
    "H.265 is read from every container, with its parameter sets in each keyframe and without delimiters",
    arguments: ["a.mkv", "a.mp4", "hev1.mp4", "a.mov"])
  func h265(name: String) throws {
    let tag = name.hasPrefix("hev1") ? ["-tag:v", "hev1"] : name.hasSuffix("mkv") ? [] : ["-tag:v", "hvc1"]
    let path = try make(name, ["-c:v", "libx265", "-x265-params", "log-level=none:bframes=0:aud=1:pools=1"] + tag)
    let (track, frames) = try read(path)
    #expect(track.codec == .h265 && track.size == VideoSize(width: 128, height: 96) && track.encodingReason == nil)
    #expect(frames.count == 50 && frames.filter(\.isKeyframe).count == 2 && track.skippedFrames == 0)
    for frame in frames {
      let units = Array(H265NALUnits(frame.payload))
      let areKept = units.allSatisfy { $0.isKept }
      #expect(areKept)
      for type in [H265NALUnit.Kind.videoParameterSet, .sequenceParameterSet, .pictureParameterSet] {
        let hasUnit = units.contains { $0.type == type }
        #expect(hasUnit == frame.isKeyframe)
      }
    }
    #expect(H265Bitstream.profile(of: frames[0].payload)?.hasPrefix("hvc1.1.6.L") == true)
  }

  @Test("lengths of one, two and four bytes of H.265 become lengths of four", arguments: [1, 2, 4])
  func lengths(size: Int) throws {
    let path = try make(
      "a.mkv", ["-c:v", "libx265", "-x265-params", "log-level=none:bframes=0:pools=1:repeat-headers=1:info=0:qp=51"])
    let (_, whole) = try read(path)
    var record = Array(
      try #require(H265Bitstream.codecPrivate(of: whole[0].payload, maximumLength: 2_048)).readableBytesView)
    record[21] = record[21] & 0xFC | UInt8(size - 1)
    let framing = try #require(H265Bitstream.framing(codecPrivate: record))
    for frame in whole {
      let units = Array(H265NALUnits(frame.payload)).map(\.bytes)
      guard units.allSatisfy({ $0.readableBytes < 1 << (8 * min(size, 3)) }) else { continue }
      let stored = units.flatMap { W.bigEndian(UInt64($0.readableBytes), bytes: size) + Array($0.readableBytesView) }
      #expect(framing.frame(ByteBuffer(bytes: stored)) == frame.payload)
      #expect(framing.frame(ByteBuffer(bytes: stored.dropLast())) == nil)
    }
    record[21] |= 0x02
    record[21] &= 0xFE
    #expect(H265Bitstream.framing(codecPrivate: record) == nil)
  }

  @Test("a track of H.265 without parameter sets is refused")
  func bare() throws {
    let bytes = W.header(type: "matroska") + W.segment(W.info(), W.tracks(W.video(codec: "V_MPEGH/ISO/HEVC")))
    let path = try folder.write(bytes, as: "bare.mkv")
    let error = #expect(throws: MediaFile.ReadError.self) {
      try StoredFile(opening: path, accepting: Set(Codec.allCases))
    }
    #expect(error?.description == "its H.265 track has no parameter sets (CodecPrivate)")
  }

  @Test(
    "frames whose times go back are read in the order of the file with the times at which they are shown, each round",
    arguments: ["mkv", "mp4"], ["libx264", "libx265"])
  func reorderedTimes(container: String, encoder: String) throws {
    let structure = encoder == "libx264" ? "-x264-params" : "-x265-params"
    let path = try make(
      "a.\(container)", ["-c:v", encoder, structure, "log-level=none:bframes=3:b-adapt=0:keyint=25:scenecut=0"])
    let probe = try ExternalTool.run(
      "ffprobe",
      ["-v", "error", "-select_streams", "v", "-show_entries", "packet=pts_time", "-of", "csv=p=0", path])
    let times = probe.output.split(whereSeparator: \.isNewline).compactMap { Double($0.filter { $0 != "," }) }
    try #require(times.count == 50)
    let origin = times.min() ?? 0
    let file = try StoredFile(opening: path, accepting: Set(Codec.allCases))
    let track = try #require(file.track(.video))
    #expect(track.isReordered && track.encodingReason == FrameHeader.reordering && track.frames == 50)
    #expect(track.end - track.start == 2 * Int64(MediaTimebase.rate))
    let reader = try file.reader(of: track)
    for round in 0..<2 {
      var newest = -1.0
      for (index, time) in times.enumerated() {
        let next = try reader.next()
        let frame = try #require(next)
        let read = Double(frame.time) / Double(MediaTimebase.rate)
        #expect(abs(read - (time - origin)) < 0.0015, "frame \(index) of round \(round)")
        #expect(frame.isReordered == (read < newest))
        newest = max(newest, read)
      }
      let end = try reader.next()
      #expect(end == nil)
      try reader.rewind()
    }
  }

  @Test("H.265 with B-frames is not sent as stored")
  func reordered() throws {
    let path = try make("a.mp4", ["-c:v", "libx265", "-x265-params", "log-level=none:bframes=3:b-adapt=0:pools=1"])
    let (track, frames) = try read(path)
    #expect(frames.count == 50 && track.encodingReason == FrameHeader.reordering)
  }
}
