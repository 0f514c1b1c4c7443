import Composition
import Media
import Testing

@Suite("the options of a composition")
struct CompositionArgumentsTests {
  private func options(
    _ output: String = "meeting.mp4", file: String = "", _ change: (inout CompositionArguments) -> Void = { _ in }
  ) throws -> CompositionOptions {
    var arguments = CompositionArguments(inputs: ["out"], output: output)
    change(&arguments)
    return try CompositionOptions(arguments) { _ throws(CompositionError) in Array(file.utf8) }
  }

  @Test("without options a call becomes 1280x720 at 30 frames a second, as the ending of the file says")
  func defaults() throws {
    let options = try options()
    #expect(options.size == VideoSize(width: 1280, height: 720) && options.rate == .standard)
    #expect(
      options.layout == .grid && options.fit == .contain && options.calls == .only && options.hasNames
        && options.hasChat)
    #expect(options.quality == .standard && options.maximumBitrate == nil && options.from == 0 && options.to == nil)
    #expect(!options.hasChapters && !options.hasClock && !options.isLevelled && !options.isForced && !options.isPartial)
  }

  @Test(
    "the ending chooses the container and its codecs",
    arguments: [
      ("a.mp4", nil, nil, OutputVideoCodec.h264, OutputAudioCodec.aac), ("./x.d/a.WebM", nil, nil, .vp9, .opus),
      ("a.mkv", nil, nil, .h264, .opus), ("a.webm", "vp8", nil, .vp8, .opus), ("a.mp4", "av1", "opus", .av1, .opus),
      ("a.m4a", nil, nil, .h264, .aac), ("a.ogg", nil, "opus", .h264, .opus),
    ])
  func formats(path: String, video: String?, audio: String?, videoCodec: OutputVideoCodec, audioCodec: OutputAudioCodec)
    throws
  {
    let format = try OutputFormat(path: path, video: video, audio: audio)
    #expect(format.video == videoCodec && format.audio == audioCodec && format.isVideoWanted == (video != nil))
  }

  @Test(
    "a container without the codec, and an ending that is none, are refused",
    arguments: [
      ("a.webm", "h264", nil), ("a.webm", nil, "aac"), ("a.m4a", "h264", nil), ("a.mp4", "vp8", nil),
      ("a.avi", nil, nil),
      ("mp4", nil, nil), ("", nil, nil), ("a.mp4/", nil, nil), ("a.mp4", "H264", nil),
    ])
  func refusedFormats(path: String, video: String?, audio: String?) {
    let error = #expect(throws: CompositionError.self) { try OutputFormat(path: path, video: video, audio: audio) }
    #expect(error?.kind == .usage)
  }

  @Test("all options are read")
  func all() throws {
    let options = try options {
      $0.all = true
      $0.partial = true
      ($0.from, $0.to) = ("5m", "1h30s")
      $0.exclude = ["recorder"]
      ($0.size, $0.fps, $0.quality, $0.maximumBitrate) = ("1920x1080", "25", 10, "2M")
      ($0.layout, $0.fit, $0.names) = ("presenter:Ann", "cover", "off")
      $0.rename = ["id=a=b", "c=\u{202E}d"]
      ($0.clock, $0.chat, $0.chapters, $0.level, $0.force, $0.report) = (true, false, true, true, true, "r.json")
    }
    #expect(options.calls == .all && options.isPartial && options.excluded == ["recorder"])
    #expect(options.from == 300 * 720_000 && options.to == 3_630 * 720_000)
    #expect(options.size == VideoSize(width: 1920, height: 1080) && options.quality.value == 10)
    #expect(options.rate == FrameRate(numerator: 25, denominator: 1) && options.maximumBitrate == 2_000_000)
    #expect(options.layout == .presenter("Ann") && options.fit == .cover && !options.hasNames)
    #expect(options.renamed == ["id": "a=b", "c": "\u{202E}d"])
    #expect(options.hasClock && !options.hasChat && options.hasChapters && options.isLevelled && options.isForced)
    #expect(options.report == "r.json")
  }

  @Test(
    "rates are exact fractions",
    arguments: [
      ("30", 30, 1), ("29.97", 30_000, 1_001), ("30000/1001", 30_000, 1_001), ("12.5", 25, 2), ("60", 60, 1),
      ("59.94", 60_000, 1_001),
      ("25.0", 25, 1), ("1", 1, 1), ("24000/1001", 24_000, 1_001),
    ] as [(String, Int64, Int64)])
  func rates(text: String, numerator: Int64, denominator: Int64) throws {
    #expect(try FrameRate(parsing: text) == FrameRate(numerator: numerator, denominator: denominator))
  }

  @Test(
    "other rates are refused",
    arguments: [
      "", "0", "61", "60.001", "0.999", "30/0", "1/2/3", "-30", "3e1", "30.", "30.0001", ".5", "١",
      "9999999999999999999",
    ])
  func refusedRates(text: String) {
    let error = #expect(throws: CompositionError.self) { try FrameRate(parsing: text) }
    #expect(error?.kind == .usage)
  }

  @Test("what is out of bounds is refused with the name of the option")
  func refused() {
    let cases: [(name: String, change: (inout CompositionArguments) -> Void)] = [
      ("--size", { $0.size = "3842x2160" }), ("--size", { $0.size = "2160x3842" }), ("--size", { $0.size = "321x180" }),
      ("--size", { $0.size = "wide" }), ("--quality", { $0.quality = 11 }), ("--quality", { $0.quality = 0 }),
      ("--max-bitrate", { $0.maximumBitrate = "fast" }), ("--from", { $0.from = "-5s" }), ("--to", { $0.to = "0s" }),
      ("--fit", { $0.fit = "crop" }), ("--layout", { $0.layout = "circle" }), ("--layout", { $0.layout = "only:" }),
      ("--names", { $0.names = "big" }), ("--rename", { $0.rename = ["a="] }), ("--rename", { $0.rename = ["=a"] }),
      ("--call", { ($0.call, $0.all) = (1, true) }), ("folder", { $0.inputs = [] }),
      ("layout.json: line 1", { $0.layout = "layout.json" }),
    ]
    for (name, change) in cases {
      let error = #expect(throws: CompositionError.self) { try options(file: "{", change) }
      #expect(error?.kind == .usage && error?.sentence.contains(name) == true, "\(name)")
    }
  }

  @Test("a layout file is read for the size of the output, whatever the order of the options")
  func layoutFile() throws {
    let text = #"{"regions":[{"x":1300,"width":620}]}"#
    let options = try options(file: text) { ($0.layout, $0.size) = ("a/layout", "1920x1080") }
    #expect(options.layout == .regions(LayoutFile(regions: [LayoutRegion(x: 1300, y: 0, width: 620, height: 1080)])))
    #expect(throws: CompositionError.self) { try self.options(file: text) { $0.layout = "a/layout" } }
  }
}
