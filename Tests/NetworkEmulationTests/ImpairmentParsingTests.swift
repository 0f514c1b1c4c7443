import Testing

@testable import NetworkEmulation

@Suite("The text of an impairment")
struct ImpairmentParsingTests {
  @Test("every setting is read, with its unit, for both directions")
  func allSettings() throws {
    let read = try Impairment(
      parsing: "loss=5%,burst=3,delay=80ms,jitter=20ms,rate=500kbit,queue=0.3s,reorder=1%", seed: 7)
    var conditions = Impairment.Conditions()
    conditions.loss = 0.05
    conditions.burst = 3
    conditions.delay = .milliseconds(80)
    conditions.jitter = .milliseconds(20)
    conditions.rate = 500_000
    conditions.queue = .milliseconds(300)
    conditions.reorder = 0.01
    #expect(read.send == [.init(at: .zero, conditions)])
    #expect(read.receive == read.send)
    #expect(read.seed == 7)
  }

  @Test("a direction applies to the settings after it, and settings before it apply to both directions")
  func directions() throws {
    let read = try Impairment(parsing: "delay=20ms, send: loss=5%, burst=3, receive: rate=1.5Mbit/s", seed: 1)
    #expect(read.send.first?.conditions.description == "loss=5%,burst=3,delay=20ms")
    #expect(read.receive.first?.conditions.description == "delay=20ms,rate=1.5Mbit")
  }

  @Test("a step contains all settings from its time on, for the directions that it names")
  func script() throws {
    let read = try Impairment(
      parsing: "0s: loss=1%, delay=30ms; 10s: rate=150kbit; 12500ms: send: loss=2%; 1m: none", seed: 1)
    #expect(read.send.map(\.time) == [.zero, .seconds(10), .milliseconds(12_500), .seconds(60)])
    #expect(read.send.map(\.conditions.description) == ["loss=1%,delay=30ms", "rate=150kbit", "loss=2%", "none"])
    #expect(read.receive.map(\.time) == [.zero, .seconds(10), .seconds(60)])
  }

  @Test("a script can be listed as periods for a report")
  func periods() throws {
    let read = try Impairment(parsing: "2s: loss=1%; 10s: none; 20s: send: delay=5ms", seed: 1)
    let reported = read.periods.map {
      "\($0.direction) \($0.start / .seconds(1))-\($0.end.map { "\($0 / .seconds(1))" } ?? "") \($0.conditions)"
    }
    #expect(reported == ["send 2.0-10.0 loss=1%", "send 20.0- delay=5ms", "receive 2.0-10.0 loss=1%"])
  }

  @Test("the description of an impairment parses to the same impairment")
  func roundTrip() throws {
    for (text, canonical) in [
      ("none", "none"), (" loss = 7% ", "loss=7%"), ("delay=1s,jitter=0.5ms", "delay=1s,jitter=0.5ms"),
      ("send: loss=5%; receive: loss=1%", "send: loss=5%, receive: loss=1%"), ("receive: none", "receive: none"),
      ("loss=100%", "loss=100%"), ("rate=500k", "rate=500kbit"), ("rate=1234567bit", "rate=1234.567kbit"),
      ("delay=20ms, send: loss=0.125%", "send: loss=0.125%,delay=20ms, receive: delay=20ms"),
      ("5s: rate=150kbit, queue=1s; 20s: none", "5s: rate=150kbit,queue=1s; 20s: none"),
      (
        "10s: send: none, receive: reorder=1%; 0.5m: send: delay=5ms",
        "10s: send: none, receive: reorder=1%; 30s: send: delay=5ms"
      ),
    ] {
      let read = try Impairment(parsing: text, seed: 3)
      #expect(read.description == canonical)
      #expect(try Impairment(parsing: read.description, seed: 3) == read)
    }
  }

  @Test(
    "invalid text is refused with a sentence that gives the reason",
    arguments: [
      ("", "An impairment has a part without a setting; write it like loss=5%,delay=80ms, or none."),
      ("loss=5%,", "An impairment has a part without a setting; write it like loss=5%,delay=80ms, or none."),
      ("loss=5%;;delay=1s", "An impairment has a part without a setting; write it like loss=5%,delay=80ms, or none."),
      (
        "los=5%",
        "An impairment has no setting \"los\"; there are loss, burst, delay, jitter, rate, queue and reorder."
      ),
      (
        "Loss=5%",
        "An impairment has no setting \"Loss\"; there are loss, burst, delay, jitter, rate, queue and reorder."
      ),
      (
        "out: loss=5%",
        "\"out:\" is neither a direction, which is send: or receive:, nor the time of a step, like 10s:."
      ),
      ("loss", "The impairment's loss has no value; write it like loss=5%."),
      ("loss=5", "The impairment's loss=5 has no unit: use a share in percent, like loss=5%."),
      ("delay=80", "The impairment's delay=80 has no unit: use a time in ms or s, like delay=80ms."),
      (
        "rate=500",
        "The impairment's rate=500 has no unit: use bits a second in bit, kbit, Mbit or Gbit, like rate=500kbit."
      ),
      ("burst=3%", "The impairment's burst=3% is invalid: use a number, like burst=3."),
      ("delay=-5ms", "The impairment's delay=-5ms is invalid: use a time in ms or s, like delay=80ms."),
      ("delay=1.2.3s", "The impairment's delay=1.2.3s is invalid: use a time in ms or s, like delay=80ms."),
      ("delay=5%", "The impairment's delay=5% is invalid: use a time in ms or s, like delay=80ms."),
      ("loss=120%", "The impairment's loss=120% is out of range: it must be 0% to 100%."),
      ("jitter=11s", "The impairment's jitter=11s is out of range: it must be 0ms to 10s."),
      ("rate=1kbit", "The impairment's rate=1kbit is out of range: it must be 8kbit to 10Gbit."),
      (
        "loss=5%,burst=0.5",
        "The impairment's burst=0.5 is out of range: it must be 1 to 1000 datagrams in a row."
      ),
      ("loss=5%,delay=1s,loss=1%", "The impairment's loss is given twice for the same direction and time."),
      ("loss=5%, send: loss=1%", "The impairment's loss is given twice for the same direction and time."),
      ("burst=3", "The impairment's burst has no effect without loss; write it like loss=5%,burst=3."),
      ("queue=1s", "The impairment's queue has no effect without rate; write it like rate=500kbit,queue=200ms."),
      (
        "loss=80%,burst=3",
        "A loss of 80% is impossible with bursts of 3 on average, which lose 75% at most; make the bursts longer or leave "
          + "burst out."
      ),
      ("none,loss=5%", "In an impairment, none removes every setting and cannot be combined with others."),
      ("loss=5%,none", "In an impairment, none removes every setting and cannot be combined with others."),
      ("10: none", "\"10\" is not a valid start time of an impairment's step; write it like 0s:, 1500ms: or 2m:."),
      (
        "99999h: none",
        "\"99999h\" is not a valid start time of an impairment's step; write it like 0s:, 1500ms: or 2m:."
      ),
      ("10s: none; 5s: loss=1%", "An impairment's steps must be in order of time, but 5s follows 10s."),
      (
        "loss=5%; delay=3ms",
        "Two steps of an impairment set the send direction at 0s; join their settings with commas."
      ),
      (
        "3s: receive: loss=5%; 3s: delay=3ms",
        "Two steps of an impairment set the receive direction at 3s; join their settings with commas."
      ),
    ])
  func rejections(text: String, sentence: String) {
    let error = #expect(throws: Impairment.ParseError.self) { _ = try Impairment(parsing: text, seed: 1) }
    #expect(error?.description == sentence)
  }
}
