import Testing
import WHIP

@Suite("ICE restarts")
struct ICERestartTests {
  private let fragment = SDPFragment(
    credentials: ICECredentials(usernameFragment: "289b", password: "0b66f472495ef0ccac7bda65"))

  @Test("an offer with other credentials and the same certificate and sections is a restart")
  func isRestart() {
    let old = Sample.offer()
    #expect(ICERestart.isRestart(from: old, to: Sample.offer(fragment: "ysXw")))
    #expect(!ICERestart.isRestart(from: old, to: old))
    #expect(!ICERestart.isRestart(from: old, to: Sample.offer(fragment: "ysXw", fingerprint: "AA:BB")))
    #expect(!ICERestart.isRestart(from: old, to: Sample.offer(fragment: "ysXw", mids: ["0"])))
    #expect(!ICERestart.isRestart(from: old, to: ""))
  }

  @Test("the answer to a restart has the server's new credentials, the next version and the previous candidates")
  func answer() throws {
    let answer = try #require(ICERestart.answer(from: Sample.answer(), fragment: fragment))
    #expect(
      answer
        == Sample.answer().replacing("ice-ufrag:38sd", with: "ice-ufrag:289b")
        .replacing("ice-pwd:2e13dde17c1cb009202f627f", with: "ice-pwd:0b66f472495ef0ccac7bda65")
        .replacing("o=- 1657793490019 1 ", with: "o=- 1657793490019 2 ")
        .replacing(" ufrag 38sd", with: ""))
  }

  @Test("new candidates of the server replace the previous ones, in the first section")
  func candidates() throws {
    var fragment = fragment
    var section = SDPFragment.Section(mid: "0")
    section.candidates = ["candidate:9 1 udp 1 198.51.100.9 4000 typ host"]
    fragment.sections = [section]
    let outline = SDPOutline(try #require(ICERestart.answer(from: Sample.answer(), fragment: fragment)))
    #expect(outline.sections.map(\.candidates.count) == [1, 0])
    #expect(outline.sections[0].candidates == ["candidate:9 1 udp 1 198.51.100.9 4000 typ host"])
  }

  @Test("nothing is made from an answer or a fragment without credentials")
  func impossible() {
    #expect(ICERestart.answer(from: "v=0\r\n", fragment: fragment) == nil)
    #expect(ICERestart.answer(from: Sample.answer(), fragment: SDPFragment(credentials: nil)) == nil)
  }

  @Test("a version that cannot be incremented is kept")
  func hugeVersion() throws {
    let old = Sample.answer().replacing("o=- 1657793490019 1 ", with: "o=- 1 18446744073709551615 ")
    let answer = try #require(ICERestart.answer(from: old, fragment: fragment))
    #expect(answer.contains("o=- 1 18446744073709551615 "))
  }
}
