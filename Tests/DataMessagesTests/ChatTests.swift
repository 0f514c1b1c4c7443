import DataMessages
import FoundationEssentials
import Media
import Testing

@Suite("Logs of chat")
struct ChatTests {
  func entry(_ text: UntrustedText, time: Double = 1.5, name: String? = "Ann") -> ChatEntry {
    ChatEntry(
      time: time, secondsSince1970: 1_772_357_400.125, sender: "id-1", senderName: name, text: text,
      direction: .received)
  }

  @Test("an entry is one line of JSON with time, date, sender and text")
  func line() {
    #expect(
      entry("a \"b\"\nc").jsonLine
        == #"{"time":1.5,"date":"2026-03-01T09:30:00.125Z","from":"id-1","name":"Ann","text":"a \"b\"\nc"}"# + "\n")
    #expect(
      entry("x", time: 2, name: nil).jsonLine
        == #"{"time":2,"date":"2026-03-01T09:30:00.125Z","from":"id-1","text":"x"}"# + "\n")
    #expect(entry("x", time: .nan).jsonLine.hasPrefix(#"{"time":0,"#))
  }

  @Test("a text of more than 16 KiB is cut and ends with an ellipsis")
  func long() {
    let fits = String(repeating: "é", count: 8_192)
    #expect(entry(UntrustedText(fits)).text == UntrustedText(fits))
    let cut = entry(UntrustedText(fits + "é")).text
    #expect(cut.utf8.count <= 16_384 && cut.utf8.count > 16_380 && cut.string.hasSuffix("é…"))
    let marks = entry(UntrustedText("a" + String(repeating: "\u{301}", count: 20_000))).text
    #expect(marks.utf8.count <= 16_384 && marks.unicodeScalars.count > 8_000)
  }

  @Test("cues have the header once, five seconds, the sender's name, and escaped text without blank lines")
  func cues() {
    var writer = WebVTTWriter()
    #expect(
      writer.text(appending: entry("hello", time: 3_661.25))
        == "WEBVTT\n\n01:01:01.250 --> 01:01:06.250\n<v Ann>hello\n\n")
    #expect(
      writer.text(appending: entry("a\r\n\r\n \nb --> <i>&\u{0}c\td\n\n", time: 3_662, name: "A>\n<B&C"))
        == "01:01:02.000 --> 01:01:07.000\n<v A&gt; &lt;B&amp;C>a\nb --&gt; &lt;i&gt;&amp;c d\n\n")
    #expect(
      writer.text(appending: entry("", time: 3_663, name: nil)) == "01:01:03.000 --> 01:01:08.000\n<v id-1>\n\n")
  }

  @Test("characters that act on a terminal or turn the direction of text are escaped in JSON and left out of subtitles")
  func invisible() {
    let hostile = entry("a\u{9B}31m\u{202E}b\u{2028}\u{E0001}é\u{200D}", name: "\u{202E}Ann")
    #expect(
      hostile.jsonLine.hasSuffix(#""name":"\u202eAnn","text":"a\u009b31m\u202eb\u2028\udb40\udc01é\u200d"}"# + "\n"))
    var writer = WebVTTWriter(isHeaderWritten: true)
    #expect(
      writer.text(appending: hostile) == "00:00:01.500 --> 00:00:06.500\n<v Ann>a31mbé\u{200D}\n\n")
  }

  @Test("cues never start before an earlier one, and odd times cause no trap")
  func times() {
    var writer = WebVTTWriter(isHeaderWritten: true)
    #expect(writer.text(appending: entry("x", time: -5)).hasPrefix("00:00:00.000 --> 00:00:05.000\n"))
    #expect(writer.text(appending: entry("x", time: 2)).hasPrefix("00:00:02.000 --> "))
    #expect(writer.text(appending: entry("x", time: 1)).hasPrefix("00:00:02.000 --> "))
    #expect(writer.text(appending: entry("x", time: .nan)).hasPrefix("00:00:02.000 --> "))
    #expect(writer.text(appending: entry("x", time: .infinity)).hasPrefix("00:00:02.000 --> "))
    #expect(writer.text(appending: entry("x", time: 1e300)).hasPrefix("10000:00:00.000 --> "))
  }

  @Test("200 messages are logged at once, then 20 in a second, and the others are counted")
  func rate() {
    var rate = ChatRate()
    var now = MonotonicInstant.now
    #expect((0..<300).count { _ in rate.admits(now: now) } == 200)
    #expect(rate.dropped == 100)
    now += .seconds(1)
    #expect((0..<100).count { _ in rate.admits(now: now) } == 20)
    now += .seconds(3_600)
    #expect((0..<300).count { _ in rate.admits(now: now) } == 200)
    #expect(rate.dropped == 280)
  }
}
