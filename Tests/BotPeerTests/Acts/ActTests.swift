import Testing

@testable import BotPeer
@testable import NetworkEmulation
@testable import PeerEngine

@Suite("The list of acts")
struct ActTests {
  @Test("every act has a name in lower case with hyphens, by which it is found")
  func names() {
    #expect(
      Act.allCases.map(\.rawValue) == [
        "candidate-before-offer", "second-offer", "ssrc-change", "size-change", "absurd-timestamps", "padding-only",
        "sudden-leave", "slow-answer", "wrong-fingerprint",
      ])
    for act in Act.allCases { #expect(Act(rawValue: act.rawValue) == act) }
  }

  @Test("every act tells in sentences what it does and what a good app does")
  func texts() {
    for act in Act.allCases {
      for text in [act.title, act.whatAGoodAppDoes] {
        #expect(text.hasSuffix(".") && text.first?.isUppercase == true && !text.contains("\n"))
        #expect(text.count > 40 && text.count < 330, "\(act.rawValue): \(text.count)")
      }
    }
    #expect(Set(Act.allCases.map(\.title)).count == Act.allCases.count)
  }

  @Test("an act is the engine's or the source's")
  func owners() {
    for act in Act.allCases { #expect((act.misbehaviour == nil) == act.isOfSource) }
    #expect(Act.allCases.filter(\.isOfSource) == [.sizeChange])
  }
}
