import Foundation
import Media
import Recorder
import TestSupport
import Testing

/// A call recorded onto a disk that logs each write, cut off at random moments, as `kill -9` does.
@Suite("Files left by a killed program")
struct CrashTests {
  /// Video and audio from the first moment on, with sender reports after half a second; then the camera is off for 2 s,
  /// and continues with larger frames.
  private static func call() throws -> Script {
    var script = Script()
    script.add(try TestMedia.tone(10), codec: .opus)
    let small = VideoSize(width: 64, height: 48)
    script.add(try TestMedia.videoFrames(3, size: small, keyframeEvery: 40), codec: .vp8)
    let larger = VideoSize(width: 96, height: 64)
    script.add(
      try TestMedia.videoFrames(5, size: larger, keyframeEvery: 50), codec: .vp8, begin: 5, base: 1_000_000 + 450_000)
    script.addReports(.opus, at: [0.5, 5.5])
    script.addReports(.vp8, at: [0.7, 5.7])
    return script
  }

  /// Video of H.264 that changes its size twice, and audio of G.711.
  private static func otherCodecs() throws -> Script {
    var script = Script()
    script.add(try TestMedia.octets(10, codec: .pcmu), codec: .pcmu)
    let small = VideoSize(width: 64, height: 48)
    let video = try TestMedia.h264(3, size: small, keyframeEvery: 40)
      .followed(by: TestMedia.h264(3, size: VideoSize(width: 96, height: 64), keyframeEvery: 50), after: 3_000)
      .followed(by: TestMedia.h264(4, size: small, keyframeEvery: 60), after: 3_000)
    script.add(video, codec: .h264)
    script.addReports(.pcmu, at: [0.5, 5.5])
    script.addReports(.h264, at: [0.7, 5.7])
    return script
  }

  /// Video that changes from VP8 to H.264, and audio that changes from Opus to G.722, half a second apart.
  private static func changingCodecs() throws -> Script {
    var script = Script()
    script.add(try TestMedia.tone(6), codec: .opus)
    script.add(try TestMedia.octets(4, codec: .g722), codec: .g722, begin: 6)
    let size = VideoSize(width: 64, height: 48)
    script.add(try TestMedia.videoFrames(6.5, size: size, keyframeEvery: 40), codec: .vp8)
    script.add(
      try TestMedia.h264(3.5, size: size, keyframeEvery: 40), codec: .h264, begin: 6.5, base: 1_000_000 + 585_000)
    script.addReports(.opus, at: [0.5, 5.5])
    script.addReports(.vp8, at: [0.7, 5.7])
    return script
  }

  /// One or more moments that left the same files; the last of them. A quarter of all are in the middle of a write.
  private struct Cut {
    var seconds: Double
    var image: ScriptedDisk.Image
    var isTorn: Bool
    var count = 1

    var media: [String: [UInt8]] { image.files.filter { !$0.key.hasPrefix(".") && !$0.key.hasSuffix("json") } }
  }

  /// Merges cuts that left the same files, since other programs take long to examine them.
  private static func merged(_ cuts: [Cut]) -> [Cut] {
    var merged: [Cut] = []
    for cut in cuts.sorted(by: { $0.seconds < $1.seconds }) {
      if let last = merged.last, !last.isTorn, !cut.isTorn, last.seconds > 5 || cut.seconds <= 5,
        last.media == cut.media
      {
        merged[merged.count - 1] = cut
        merged[merged.count - 1].count = last.count + 1
      } else {
        merged.append(cut)
      }
    }
    return merged
  }

  private static func cuts(of disk: ScriptedDisk, length: Double, count: Int, seed: UInt64) -> [Cut] {
    var generator = SeededGenerator(seed: seed)
    let log = disk.log
    let moments = (0..<count).map { index -> (Double, Int?) in
      guard index % 4 == 3 else { return (Double.random(in: 0.2..<length, using: &generator), nil) }
      let index = Int.random(in: 0..<log.count, using: &generator)
      return ((log[index].time - Script.beginning) / .seconds(1), index)
    }
    return moments.map { seconds, tornIndex in
      var image = ScriptedDisk.Image()
      for (index, entry) in log.enumerated() {
        if let tornIndex {
          if index > tornIndex { break }
          var torn: Int?
          if index == tornIndex, case .write(_, _, let bytes) = entry.change {
            torn = Int.random(in: 0...bytes.count, using: &generator)
          }
          image.apply(entry.change, torn: torn)
        } else if entry.time <= Script.beginning + .seconds(seconds) {
          image.apply(entry.change)
        }
      }
      return Cut(seconds: seconds, image: image, isTorn: tornIndex != nil)
    }
  }

  /// A call, and the tracks in its files.
  enum Call: CaseIterable {
    case webM, otherCodecs, changingCodecs

    var count: Int { self == .webM ? 100 : 50 }

    fileprivate func script() throws -> Script {
      switch self {
      case .webM: try CrashTests.call()
      case .otherCodecs: try CrashTests.otherCodecs()
      case .changingCodecs: try CrashTests.changingCodecs()
      }
    }

    /// Nil if the files are not known beforehand; then the frames in the repaired manifest are counted.
    fileprivate var tracks: [(name: String, codec: Codec, kind: String)]? {
      switch self {
      case .webM: [("anna.webm", .vp8, "video"), ("anna.webm", .opus, "audio"), ("anna.ogg", .opus, "audio")]
      case .otherCodecs: [("anna.mkv", .h264, "video"), ("anna.mkv", .pcmu, "audio"), ("anna.mka", .pcmu, "audio")]
      case .changingCodecs: nil
      }
    }
  }

  @Test(
    """
    after a kill at any of 100 or 50 moments, some in mid-write, every file opens and decodes, at most 1 s is missing, and a \
    repair completes it
    """, arguments: Call.allCases)
  func anyMoment(call: Call) async throws {
    let script = try call.script()
    let disk = ScriptedDisk()
    let folder = TestFolder()
    let recorder = try folder.recorder(disk: disk)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    await record(script, to: recorder, on: disk)
    await recorder.finish(now: Script.beginning + .seconds(10.1))

    let cuts = Self.merged(Self.cuts(of: disk, length: 10.1, count: call.count, seed: 100))
    #expect(cuts.reduce(0) { $0 + $1.count } == call.count)
    var worst = 0.0
    var worstEarly = 0.0
    var files = 0
    try await withThrowingTaskGroup(of: (Double, Double, Int).self) { group in
      var waiting = cuts.enumerated().makeIterator()
      func judge(_ next: (offset: Int, element: Cut)) {
        group.addTask { try Self.judge(next.element, next.offset, script, tracks: call.tracks) }
      }
      for _ in 0..<2 {
        if let next = waiting.next() { judge(next) }
      }
      while let (missing, early, count) = try await group.next() {
        worst = max(worst, missing)
        worstEarly = max(worstEarly, early)
        files += count
        if let next = waiting.next() { judge(next) }
      }
    }
    print(
      "measured: kill at \(call.count) random moments: \(files) files open, decode and are repaired; at most "
        + String(format: "%.2f s of what had been received is missing (%.2f s in the first 5 s)", worst, worstEarly))
    #expect(files > call.count * 6 / 5)
    #expect(worst <= 1)
    #expect(worstEarly <= 3)
  }

  /// Plays a script with the disk's time set to that of each event, and advances the recorder every 100 ms.
  private func record(_ script: Script, to recorder: RoomRecorder, on disk: ScriptedDisk) async {
    var clock = Script.beginning
    for entry in script.inOrder {
      while clock + RoomRecorder.tick < entry.at {
        clock += RoomRecorder.tick
        disk.time = clock
        await recorder.advance(now: clock)
      }
      disk.time = entry.at
      recorder.receive(entry.event, of: script.owner, now: entry.at)
      await recorder.drain()
    }
    disk.time = Script.beginning + .seconds(10.1)
  }

  /// - Returns: how much is missing after the first 5 s and before, in seconds, and the number of files examined.
  private static func judge(
    _ cut: Cut, _ number: Int, _ script: Script, tracks: [(name: String, codec: Codec, kind: String)]?
  ) throws -> (Double, Double, Int) {
    let folder = TestFolder()
    let repaired = TestFolder()
    for folder in [folder, repaired] {
      try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
      for (name, bytes) in cut.image.files where !name.hasPrefix(".") {
        try Data(bytes).write(to: URL(fileURLWithPath: "\(folder.path)/\(name)"))
      }
    }
    let what: Comment = "cut \(number) at \(cut.seconds) s"
    let names = folder.names.filter { !$0.hasSuffix(".json") }
    if folder.names.contains("anna.json"), try !RecordingManifest(parsing: folder.bytes("anna.json")).finished {
      let reports = RoomRecorder.repair("\(repaired.path)/anna.json")
      #expect(reports.allSatisfy(\.isComplete) || names.isEmpty, "\(what): \(reports)")
      #expect(RoomRecorder.unfinished(in: repaired.path).isEmpty)
      #expect(try RecordingManifest(parsing: repaired.bytes("anna.json")).repaired == true)
    }
    let results = try ToolResults(
      of: names, before: folder.path, after: repaired.path, isThorough: number.isMultiple(of: 4))
    results.expectNothingWrong(isTorn: cut.isTorn, what)

    var missing = 0.0
    func note(_ first: (at: MonotonicInstant, event: MediaEvent)?) {
      if let first { missing = max(missing, cut.seconds - (first.at - Script.beginning) / .seconds(1)) }
    }
    for (name, codec, kind) in tracks ?? [] {
      // All frames have a delay of 10 ms; ffprobe shows Opus 6.5 ms earlier.
      let last = (results.lastPacket[name + kind] ?? -1) + 0.01 + 0.0065 + 0.001
      note(
        script.inOrder.first { entry in
          guard case .frame(let frame) = entry.event, frame.codec == codec else { return false }
          return entry.at > Script.beginning + .seconds(last)
        })
    }
    if tracks == nil {
      let manifest = try? RecordingManifest(parsing: repaired.bytes("anna.json"))
      for kind in MediaKind.allCases {
        let written = manifest?.tracks.first { $0.kind == kind.rawValue }?.frames ?? 0
        let sent = script.inOrder.filter { entry in
          if case .frame(let frame) = entry.event { frame.codec.kind == kind } else { false }
        }
        note(sent.dropFirst(Int(written)).first)
      }
    }
    let count = names.count * cut.count
    return cut.seconds > 5 ? (missing, 0, count) : (0, missing, count)
  }

  /// The output of other programs for the files of one cut, before and after their repair.
  private struct ToolResults {
    /// Each program's errors, output and status, by `before` or `after`, program and file.
    private var sections: [String: String] = [:]
    /// The time of a track's last packet, by file name and kind, before the repair.
    private(set) var lastPacket: [String: Double] = [:]

    init(of names: [String], before: String, after: String, isThorough: Bool) throws {
      func ask(_ title: String, _ program: String, _ arguments: String...) throws { try ask(title, program, arguments) }
      func ask(_ title: String, _ program: String, _ arguments: [String]) throws {
        let result = try ExternalTool.run(program, arguments)
        sections[title] = "\(result.errors)\n\(result.output)\nstatus \(result.status)"
      }
      for (moment, folder) in [("before", before), ("after", after)] where !names.isEmpty {
        let paths = names.map { "\(folder)/\($0)" }
        if isThorough {
          let inputs = paths.flatMap { ["-i", $0] } + names.indices.flatMap { ["-map", "\($0)"] }
          let arguments = ["-nostdin", "-v", "error"] + inputs + ["-enc_time_base", "-1", "-f", "null", "-"]
          try ask("\(moment) ffmpeg all", "ffmpeg", arguments)
        }
        for (name, path) in zip(names, paths) {
          let isMatroska = !name.hasSuffix("ogg")
          if moment == "before" || isMatroska && isThorough {
            let entries = moment == "before" ? "packet=codec_type,pts_time:format=duration" : "format=duration"
            // It decodes all frames in order to count them.
            try ask(
              "\(moment) ffprobe \(name)", "ffprobe", "-v", "error", "-count_frames", "-show_entries", entries, "-of",
              "csv", path)
          }
          if isMatroska {
            try ask("\(moment) mkvinfo \(name)", "mkvinfo", "-a", path)
          } else {
            try ask("\(moment) opusinfo \(name)", "opusinfo", path)
          }
        }
      }
      for name in names {
        for line in (sections["before ffprobe \(name)"] ?? "").split(separator: "\n") {
          let parts = line.split(separator: ",")
          if parts.count > 2, parts[0] == "packet", let time = Double(parts[2]) { lastPacket[name + parts[1]] = time }
        }
      }
    }

    func expectNothingWrong(isTorn: Bool, _ what: Comment) {
      for (title, text) in sections {
        let isRepaired = title.hasPrefix("after")
        var lines = text.split(separator: "\n").map(String.init)
        let status = lines.popLast()
        let what: Comment = "\(what), \(title): \(lines.suffix(5))"
        if title.contains("ffprobe") {
          #expect(status == "status 0", what)
          // It may only report an error for a cluster that was being written, and must read everything before it.
          let isFormatted = lines.filter { !$0.hasPrefix("packet,") && !$0.hasPrefix("format,") }
          #expect(isFormatted.allSatisfy { isTorn && !isRepaired && Self.isAboutTheEnd($0) }, "\(what) \(isFormatted)")
          if isRepaired { #expect(lines.last?.split(separator: ",").last.flatMap { Double($0) } ?? 0 > 0, what) }
        } else if title.contains("ffmpeg") {
          #expect(status == "status 0", what)
          #expect(lines.allSatisfy { isTorn && !isRepaired && Self.isAboutTheEnd($0) }, what)
        } else if title.contains("mkvinfo") {
          #expect(status == "status 0" && lines.contains { $0.contains("+ Tracks") }, what)
          #expect(!lines.contains { $0.contains("rror") || $0.contains("nvalid") }, what)
          // Without a keyframe of a track that is described there is nothing to find.
          let hasCues = lines.contains { $0.contains("+ Cues") }
          let hasKeyframe = lastPacket.keys.contains {
            title.hasSuffix($0.dropLast("video".count)) && $0.hasSuffix("video")
          }
          #expect(hasCues || !isRepaired || !hasKeyframe, what)
        } else {
          let warnings = lines.filter { $0.contains("WARNING") || $0.contains("ERROR") }
          #expect(warnings.allSatisfy { !isRepaired && $0.contains("EOS not set") }, what)
        }
      }
    }

    private static func isAboutTheEnd(_ line: String) -> Bool {
      ["File ended prematurely", "Truncating packet of size", "Last message repeated"].contains { line.contains($0) }
    }
  }
}
