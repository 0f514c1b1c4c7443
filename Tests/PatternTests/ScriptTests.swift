import Codecs
import Foundation
import Media
import Pattern
import TestSupport
import Testing

/// Tests the reader for web pages against our own painter: `docs/pattern.md` is enough to write a reader.
@Suite("The pattern in JavaScript")
struct ScriptTests {
  private static let time: UInt64 = 1_795_280_400_123

  /// Whether a program is installed that runs scripts.
  static let hasEngine = ["node", "chromium"].contains { (try? ExternalTool.run("which", [$0]).status) == 0 }

  /// Runs a script after the reader and returns its output: in Node if available, otherwise in Chromium.
  private func evaluate(_ expression: String) throws -> String {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let reader = try String(
      contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../EndToEndTests/Pages/pattern-reader.js"), encoding: .utf8)
    let bytes = "const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));"
    if try ExternalTool.run("which", ["node"]).status == 0 {
      let script = folder.appendingPathComponent("script.js")
      try "\(reader)\n\(bytes)\nconsole.log(JSON.stringify(\(expression)));".write(
        to: script, atomically: true, encoding: .utf8)
      let result = try ExternalTool.run("node", [script.path])
      try #require(result.status == 0, "\(result.errors)")
      return result.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }
    let page = folder.appendingPathComponent("page.html")
    try """
    <!doctype html><meta charset="utf-8"><pre></pre>
    <script>\(reader)</script>
    <script>\(bytes)
    document.querySelector('pre').textContent = JSON.stringify(\(expression));</script>
    """.write(to: page, atomically: true, encoding: .utf8)
    let result = try ExternalTool.run(
      "chromium",
      [
        "--headless=new", "--no-sandbox", "--disable-gpu", "--user-data-dir=\(folder.path)/profile", "--dump-dom",
        page.absoluteString,
      ])
    let parts = result.output.components(separatedBy: "<pre>")
    try #require(parts.count == 2, "\(result.errors)")
    return parts[1].components(separatedBy: "</pre>")[0]
  }

  /// Returns the frame as a canvas has it: red, green, blue, opaque (ITU-R BT.601).
  private func pixels(_ videoFrame: VideoFrame) -> Data {
    var pixels = Data(capacity: videoFrame.luma.count * 4)
    let width = videoFrame.size.width
    for index in videoFrame.luma.indices {
      let position = index / width / 2 * videoFrame.colourStride + index % width / 2
      let luma = 1.164 * (Double(videoFrame.luma[index]) - 16)
      let blue = Double(videoFrame.blue[position]) - 128
      let red = Double(videoFrame.red[position]) - 128
      for value in [luma + 1.596 * red, luma - 0.813 * red - 0.391 * blue, luma + 2.018 * blue] {
        pixels.append(UInt8(min(max(0, value), 255)))
      }
      pixels.append(255)
    }
    return pixels
  }

  private func reading(_ videoFrame: VideoFrame) throws -> String {
    try evaluate(
      "readPatternPicture({ width: \(videoFrame.size.width), height: \(videoFrame.size.height), data: bytes('\(pixels(videoFrame).base64EncodedString())') })"
    )
  }

  @Test(
    "a frame is read from a canvas's pixels",
    .enabled(if: ScriptTests.hasEngine, "neither node nor chromium is installed"),
    arguments: [(160, 120), (177, 145), (320, 240)])
  func videoFrame(width: Int, height: Int) throws {
    let painter = PatternPainter(size: VideoSize(width: width, height: height), streamID: 0xBEEF)
    let text = try reading(painter.videoFrame(frame: 4_000_000_001, time: Self.time))
    #expect(text == #"{"stream":48879,"frame":4000000001,"time":1795280400123}"#)
  }

  @Test(
    "bars around the pattern are skipped, and other frames are not read",
    .enabled(if: ScriptTests.hasEngine, "neither node nor chromium is installed"))
  func others() throws {
    let inner = PatternPainter(size: VideoSize(width: 160, height: 120)).videoFrame(frame: 9, time: Self.time)
    var around = VideoFrame(size: VideoSize(width: 214, height: 120))
    for row in 0..<120 {
      around.luma.replaceSubrange(row * 214 + 27..<row * 214 + 187, with: inner.luma[row * 160..<(row + 1) * 160])
    }
    #expect(try reading(around) == #"{"stream":0,"frame":9,"time":1795280400123}"#)
    #expect(try reading(VideoFrame(size: inner.size)) == #"{"error":"no pattern"}"#)
    var damaged = inner
    for row in 52..<60 {
      damaged.luma.replaceSubrange(row * 160 + 16..<row * 160 + 80, with: repeatElement(224, count: 64))
    }
    #expect(try reading(damaged) == #"{"error":"wrong checksum"}"#)
  }

  @Test(
    "the marks are found in blocks of samples, also if 20 ms were inserted or removed within one",
    .enabled(if: ScriptTests.hasEngine, "neither node nor chromium is installed"))
  func audio() throws {
    let audio = PatternAudio().audio(from: Int64(Self.time) * 48, count: 120_000).samples
    // The next full seconds are 877 and 1,877 ms after the start: 1,795,280,401 and 402 are 17 and 18 modulo 256.
    #expect(
      try marks(in: audio[...])
        == #"[{"sample":42096,"second":17,"symbols":8},{"sample":90096,"second":18,"symbols":8}]"#)
    // After the first chirp.
    let place = 42_096 + 1_440
    #expect(
      try marks(in: audio[..<place] + audio[(place - 960)...])
        == #"[{"sample":42096,"second":17,"symbols":8},{"sample":91056,"second":18,"symbols":8}]"#)
    // The fourth symbol.
    #expect(
      try marks(in: audio[..<(place + 2_880)] + audio[(place + 3_840)...])
        == #"[{"sample":42096,"second":17,"symbols":7},{"sample":89136,"second":18,"symbols":8}]"#)
  }

  /// Returns the marks that the script finds, as JSON.
  private func marks(in samples: ArraySlice<Float>) throws -> String {
    let data = Array(samples).withUnsafeBytes { Data($0) }
    return try evaluate(
      """
      (() => {
        const samples = new Float32Array(bytes('\(data.base64EncodedString())').buffer);
        const reader = new PatternSoundReader();
        const marks = [];
        for (let place = 0; place < samples.length; place += 128) marks.push(...reader.read(samples.slice(place, place + 128)));
        return marks;
      })()
      """)
  }

  private static let hasPython = (try? ExternalTool.run("python3", ["--version"]).status) == 0

  @Test("the program in the documentation reads a frame", .enabled(if: hasPython))
  func documentation() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let page = try String(
      contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../docs/pattern.md"), encoding: .utf8)
    let code = try #require(page.components(separatedBy: "```python\n").last?.components(separatedBy: "```").first)
    let videoFrame = PatternPainter(size: VideoSize(width: 176, height: 144), streamID: 5)
      .videoFrame(frame: 77, time: Self.time)
    let plane = folder.appendingPathComponent("plane")
    try Data(videoFrame.luma).write(to: plane)
    let script = folder.appendingPathComponent("script.py")
    try """
    \(code)
    plane = open("\(plane.path)", "rb").read()
    print(read([plane[y * 176:(y + 1) * 176] for y in range(144)]))
    """.write(to: script, atomically: true, encoding: .utf8)
    let result = try ExternalTool.run("python3", [script.path])
    #expect(result.output == "{'stream': 5, 'frame': 77, 'time': 1795280400123}\n", "\(result.errors)")
  }
}
