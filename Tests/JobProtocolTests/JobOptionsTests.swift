import JSON
import JobProtocol
import Media
import Testing

@Suite("options of jobs") struct JobOptionsTests {
  private func problems(_ fields: [String: JSONValue], of kind: JobKind = .record) -> [String] {
    JobOptions.validate(.object(fields), of: kind, at: "/record").map(\.pointer)
  }

  @Test("options of a kind are valid with their units and limits")
  func valid() {
    #expect(
      problems([
        "segment": .array(["60s", "500MB"]), "verify": .bool(false), "consent": "required", "queueMemory": "512MiB",
        "name": "Recorder", "videoCodecs": "vp8,h264", "say": .array(["hello", "--record"]), "maxUsers": .number(20),
      ]) == [])
    #expect(
      problems(["input": "pattern", "fps": .number(15), "size": "640x360", "once": .bool(true)], of: .play) == [])
    #expect(problems(["input": "intro.webm", "fps": "30000/1001", "maxBitrate": "2.5M"], of: .play) == [])
    #expect(problems(["delay": "250ms"], of: .loopback) == [])
    #expect(
      problems(["for": "20s", "expect": "video.fps >= 24", "seed": .number(3), "impair": "loss=5%"], of: .check) == [])
  }

  @Test(
    "a value outside of its limits has one problem, at its place",
    arguments: [
      ("segment", JSONValue.string("10ms")), ("segment", .array(["60s", "90s"])),
      ("segment", .array(["60s"])), ("segment", .array(["1GB", "60s"])), ("segment", .array([])),
      ("segment", .number(60)), ("verify", "on"), ("verify", .null), ("consent", "maybe"), ("queueMemory", "1kB"),
      ("queueMemory", "70000GB"), ("maxUsers", .number(0)), ("maxUsers", .number(1.5)), ("maxUsers", .number(1e300)),
      ("name", ""), ("name", "\u{200B}"), ("say", "a\0b"), ("say", .object([:])), ("videoCodecs", "opus"),
      ("audioCodecs", "vp8"), ("verify", .array([.bool(true)])),
    ])
  func limits(name: String, value: JSONValue) {
    let found = problems([name: value])
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix("/record/\(name)") == true)
  }

  @Test("unknown options, and options of files, addresses and programs, are refused")
  func unknown() {
    for name in [
      "record", "fileName", "tokenFile", "pinFile", "onFinish", "receiveFiles", "server", "bindAddress", "x~/y",
    ] {
      let found = JobOptions.validate(.object([name: "x"]), of: .record, at: "/record")
      #expect(found.count == 1)
      #expect(found.first?.sentence.contains("no such option") == true)
    }
    #expect(problems(["x~/y": "x"]) == ["/record/x~0~1y"])
    #expect(JobOptions.validate("x", of: .record, at: "/record").map(\.pointer) == ["/record"])
  }

  @Test("an input is the pattern or the name of a file, never a path")
  func inputs() {
    for name in [
      "../secret", "/etc/passwd", "..", ".", ".hidden", "a/b", "", "a\u{1}b", String(repeating: "a", count: 256), "-",
    ] {
      let found = problems(["input": .string(UntrustedText(name))], of: .play)
      #expect(found == (name == "-" ? [] : ["/record/input"]), "\(name)")
    }
    #expect(problems([:], of: .play) == ["/record"])
  }

  @Test("options that need or exclude others are refused without them")
  func contradictions() {
    #expect(problems(["seed": .number(1)], of: .check) == ["/record/seed"])
    #expect(problems(["fps": .number(15)], of: .check) == ["/record/fps"])
    #expect(problems(["noAudio": .bool(true), "noVideo": .bool(true)], of: .check) == ["/record/noVideo"])
    #expect(problems(["only": .array(["a"]), "ignore": "a"], of: .check) == ["/record/only"])
  }
}

@Suite("specifications of jobs") struct JobSpecificationTests {
  private func specification(_ kind: JobKind = .record) -> JobSpecification {
    JobSpecification(
      job: "job1", attempt: 2, attemptID: "a2", kind: kind, server: JobServer(url: "ws://127.0.0.1:3000"))
  }

  @Test("a specification is the same after it was written and read")
  func writtenAndRead() throws {
    var spec = specification()
    spec.room = "Zoë 😀"
    spec.options = ["segment": .array(["60s", "1GB"]), "verify": .bool(true), "maxUsers": .number(20)]
    spec.end = JobEnd(duration: 5_000, emptyFor: nil, nobodyWithin: 1)
    spec.paused = PauseState(all: true, resumedUsers: ["a"])
    spec.server.iceServers = ["stun:stun.example"]
    spec.orphanLimit = nil
    #expect(try JobSpecification(parsing: spec.json) == spec)
  }

  @Test("missing fields have their defaults, and unknown ones are left out")
  func defaults() throws {
    let text = """
      {"protocol":1,"job":"j","attemptID":"a","kind":"record","server":{"url":"ws://h"},"later":{"x":1}}
      """
    let spec = try JobSpecification(parsing: Array(text.utf8))
    #expect(spec.attempt == 1)
    #expect(spec.end == JobEnd(duration: nil, emptyFor: 60_000, nobodyWithin: 600_000))
    #expect(spec.orphanLimit == 3_600_000)
    #expect(spec.paused == nil)
    #expect(spec.validate() == [])
  }

  @Test("the arguments are those of the command, each with its value in one word")
  func arguments() throws {
    var spec = specification()
    spec.room = "--100"
    spec.user = "bot"
    spec.options = ["segment": .array(["60s", "1GB"]), "verify": .bool(false), "consent": "required"]
    spec.server.options = ["allowLocalCandidates": .bool(false), "udpPort": .number(5_000)]
    spec.end.duration = 1_500
    spec.end.emptyFor = nil
    let arguments = try spec.arguments(in: "/data/jobs/x")
    #expect(
      arguments == [
        "call", "--server=ws://127.0.0.1:3000", "--room=--100", "--user=bot", "--no-allow-local-candidates",
        "--udp-port=5000", "--segment=60s", "--segment=1GB", "--verify=off",
        "--record=/data/jobs/x/media", "--duration=1500ms", "--leave-if-nobody=600000ms",
      ])
    var play = specification(.play)
    play.library = "/library"
    play.options = ["input": "intro.webm", "live": .bool(false), "once": .bool(true)]
    #expect(try play.arguments(in: "f").contains("--play=/library/intro.webm"))
    #expect(try !play.arguments(in: "f").contains("--live"))
    var check = specification(.check)
    check.options = ["noAudio": .bool(true), "for": "5s"]
    #expect(
      try check.arguments(in: "f") == [
        "check", "--server=ws://127.0.0.1:3000", "--for=5s", "--no-audio", "--json=f/media/report.json",
        "--html=f/media/report.html",
      ])
    #expect(try specification(.loopback).arguments(in: "f").contains("--loopback"))
  }

  @Test("what a process cannot run is refused with its place")
  func refused() {
    var spec = specification()
    spec.protocol = 2
    spec.job = "a b"
    spec.attempt = 0
    spec.room = ""
    spec.options = ["segment": "x"]
    spec.server.options = ["record": "x"]
    spec.end.duration = 0
    spec.orphanLimit = 1
    #expect(
      Set(spec.validate().map(\.pointer)) == [
        "/protocol", "/job", "/attempt", "/room", "/options/segment", "/server/options/record", "/end/duration",
        "/orphanLimit",
      ])
    #expect(throws: JobProblem.self) { try spec.arguments(in: "f") }
    var play = specification(.play)
    play.options = ["input": "intro.webm"]
    #expect(play.validate().map(\.pointer) == ["/options/input"])
  }

  @Test("limits are written as times, and null is no limit")
  func ends() throws {
    let end = try JobEnd(parsing: .object(["duration": "4h", "emptyFor": .null]), at: "/end")
    #expect(end == JobEnd(duration: 14_400_000, emptyFor: nil, nobodyWithin: 600_000))
    for fields: [String: JSONValue] in [
      ["duration": .number(5)], ["duration": "0s"], ["duration": "-1s"], ["duration": "x"], ["forever": "1s"],
    ] {
      #expect(throws: JobProblem.self) { try JobEnd(parsing: .object(fields), at: "/end") }
    }
  }
}
