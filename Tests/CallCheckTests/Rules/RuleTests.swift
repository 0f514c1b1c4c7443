import CallCheck
import Testing

@Suite("Rules")
struct RuleTests {
  @Test(
    "the limit is parsed in its unit",
    arguments: [
      ("video.fps >= 24", 24.0), ("video.firstFrame <= 2s", 2), ("audio.silence<=1s", 1),
      ("video.freeze.longest <= 500ms", 0.5), ("av.skew.p95 <= 80ms", 0.08), ("latency.p95 <= 250ms", 0.25),
      ("loss <= 2%", 0.02), ("loss <= 0.02", 0.02), ("peers == 2", 2), ("returned.ratio >= 0.98", 0.98),
      ("video.bitrate >= 300kbit", 300_000), ("video.bitrate > 1.5 Mbit/s", 1_500_000), ("audio.level > -30dB", -30),
      ("  video.freeze.count  !=  0 ", 0), ("audio.gap.longest == 0", 0), ("absent < 1min", 60),
      ("video.width >= 640px", 640),
      ("video.fps >= 24fps", 24), ("pattern.ssim >= 0.9", 0.9),
    ])
  func limits(text: String, limit: Double) throws {
    let rule = try Rule(text)
    let parsed = try #require(rule.limit.number)
    #expect(abs(parsed - limit) < 1e-9)
  }

  @Test(
    "a number before the name is that of a stream; without one it is the first",
    arguments: [
      ("2.video.fps >= 5", 2, "video.fps"), ("1.audio.silence <= 1s", 1, "audio.silence.longest"),
      ("16.loss <= 2%", 16, "loss"), ("02.returned.ratio >= 0.9", 2, "returned.ratio"),
      ("video.fps >= 5", 1, "video.fps"),
      (" 3.latency.p95<=400ms", 3, "latency.p95"), ("2.jitter.p95 <= 20ms", 2, "jitter.p95"),
    ])
  func streams(text: String, stream: Int, name: String) throws {
    let rule = try Rule(text)
    #expect(rule.stream == stream)
    #expect(rule.measurement.name == name)
    let again = try Rule(rule.text)
    #expect(again.stream == stream && again.text == rule.text)
  }

  @Test(
    "the number of a stream is refused where it means nothing",
    arguments: [
      ("0.video.fps >= 5", "\"0\" is not the number of a stream: it is 1 to 16, as in 2.video.fps >= 5."),
      ("17.video.fps >= 5", "\"17\" is not the number of a stream"),
      ("99999999999999999999.video.fps >= 5", "is not the number of a stream"),
      ("2.peers >= 2", "peers is not measured for each stream of a peer: write it without \"2.\"."),
      ("2.connect <= 2s", "connect is not measured for each stream of a peer"),
      ("2.sent.loss <= 2%", "sent.loss is not measured for each stream"),
      ("2.data.loss <= 2%", "data.loss is not measured for each stream"),
      ("2.rtt.p95 <= 2s", "rtt.p95 is not measured"),
      ("2.video.fsp >= 5", "There is no measurement \"2.video.fsp\"; the closest are 2.video.fps, "),
      ("2.rrt >= 5", "There is no measurement \"2.rrt\""), ("-2.video.fps >= 5", "There is no measurement \"-2.video"),
      ("2. >= 5", "There is no measurement \"2.\""), (".video.fps >= 5", "There is no measurement \".video.fps\""),
    ])
  func refusedStreams(text: String, reason: String) {
    let error = #expect(throws: Rule.ParseError.self) { try Rule(text) }
    #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    #expect(error?.description.contains("2.rtt") != true)
  }

  @Test(
    "a codec is compared as a text, without regard to case",
    arguments: [
      ("video.codec == h264", "h264"), ("2.video.codec != VP8", "vp8"), ("audio.codec==opus", "opus"),
      ("audio.codec == g722", "g722"), ("video.codec != vp9", "vp9"),
    ])
  func codecs(text: String, codec: String) throws {
    let rule = try Rule(text)
    #expect(rule.limit == .text(codec))
    #expect(try Rule(rule.text).limit == rule.limit)
  }

  @Test(
    "a codec is not compared with an unknown one, that of the other kind, a number, or by its order",
    arguments: [
      ("video.codec == h266", "video.codec is never h266: it is vp8, h264, vp9, av1 or h265."),
      ("video.codec == opus", "video.codec is never opus"),
      ("audio.codec != 2", "audio.codec is never 2: it is opus, g722, pcmu or pcma."),
      ("video.codec >= vp8", "video.codec is a text, so it is not compared with >=: write video.codec == vp8, or !=."),
      ("audio.codec < opus", "audio.codec is a text"), ("video.codec ==", "needs a name"),
    ])
  func refusedCodecs(text: String, reason: String) {
    let error = #expect(throws: Rule.ParseError.self) { try Rule(text) }
    #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
  }

  @Test("each of the six comparisons is parsed")
  func comparisons() throws {
    for comparison in Rule.Comparison.allCases {
      #expect(try Rule("peers \(comparison.rawValue) 2").comparison == comparison)
    }
  }

  @Test("a rule's text parses to the same rule")
  func again() throws {
    for text in ["video.fps>=24", "audio.silence <= 1s", "loss   <   2%"] {
      let rule = try Rule(text)
      #expect(try Rule(rule.text).text == rule.text)
    }
  }

  @Test(
    "text that is not a rule is refused with a helpful sentence",
    arguments: [
      ("video.fps 24", "needs >=, <=, ==, !=, > or <"), ("video.fps = 24", "needs >=, <=, ==, !=, > or <"),
      (">= 24", "needs a name"), ("video.fps >=", "needs a name"), ("video.fps >= fast", "\"fast\" is not a number"),
      ("video.firstFrame <= 2", "video.firstFrame needs a unit: write 500ms or 2s instead of 2"),
      ("video.bitrate >= 300", "needs a unit: write 300kbit or 2Mbit"), ("audio.level > -30", "write -30dB"),
      ("video.firstFrame <= 2parsec", "\"parsec\" is not a unit of video.firstFrame"), ("loss <= 2", "between 0 and 1"),
      ("loss <= 200%", "between 0 and 1"), ("video.fps >= 1e9", "\"e\" is not a unit"),
      ("video.fps >= 0x10", "not a unit"),
      ("video.fps >= inf", "not a number"), ("video.fps >= 24 fps or more", "not a unit"), ("", "needs >="),
    ])
  func refused(text: String, reason: String) {
    let error = #expect(throws: Rule.ParseError.self) { try Rule(text) }
    #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
  }

  @Test(
    "an unknown name is refused with similar names",
    arguments: [
      ("video.framerate", "video.frames"), ("vidio.fps", "video.fps"), ("fps", "video.fps"), ("freeze", "video.freeze"),
      ("silence", "audio.silence"), ("video.firstframe", "video.firstFrame"), ("av.sync.p95", "av.skew.p95"),
      ("latency", "latency.p95"), ("packetLoss", "loss"), ("audio.volume", "audio.level"),
      ("return.ratio", "returned.ratio"),
    ])
  func near(name: String, meant: String) throws {
    let error = try #require(#expect(throws: Rule.ParseError.self) { try Rule("\(name) >= 1") })
    guard case .unknownName(let reported, let near) = error else {
      Issue.record("\(error)")
      return
    }
    #expect(reported == name)
    #expect(near.contains(meant), "\(near)")
    #expect(near.count <= 5)
    #expect(error.description.hasPrefix("There is no measurement \"\(name)\""))
  }

  @Test("a level above full scale is refused and not suggested; PSNR has no such limit")
  func levels() throws {
    #expect(throws: Rule.ParseError.aboveFullScale("30dB", of: "audio.level")) { try Rule("audio.level >= 30dB") }
    #expect(try Rule("audio.level >= -30dB").limit == -30)
    #expect(try Rule("audio.peak <= 0").limit == 0)
    #expect(try Rule("pattern.psnr >= 30dB").limit == 30)
    #expect(Measurement.named("audio.level")?.unit.example == "-30dB")
    #expect(Measurement.named("pattern.psnr")?.unit.example == "30dB")
  }

  @Test("a name unlike any other is refused without suggestions")
  func strange() {
    #expect(throws: Rule.ParseError.unknownName("qqqqqqqqqqqqqqqqqqq", near: [])) {
      try Rule("qqqqqqqqqqqqqqqqqqq >= 1")
    }
  }

  @Test("every name is unique in the catalogue, and every default rule can be parsed")
  func catalogue() {
    let names = Measurement.catalogue.flatMap { [$0.name] + $0.aliases }
    #expect(Set(names).count == names.count)
    for expected in [true, false] {
      for pattern in CheckExpectation.Pattern.allCases {
        let expectation = CheckExpectation(audio: expected, video: true, pattern: pattern)
        let rules = DefaultRules.rules(for: expectation, subject: .call)
        let names = rules.map(\.rule.measurement.name)
        #expect(names.contains("video.freeze.longest"))
        #expect(names.contains("audio.silence.longest") == expected)
        #expect(names.contains("latency.p95") == (pattern != .none))
        #expect(names.contains("returned.ratio") == (pattern == .returned))
      }
    }
    let number = DefaultRules.rules(for: CheckExpectation(pattern: .returned), subject: .call).count
    #expect(number == 16)
    #expect(DefaultRules.rules(for: CheckExpectation(), subject: .recording).count == 7)
  }
}
