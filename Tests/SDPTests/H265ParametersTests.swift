import SDP
import Testing

@Suite("Parameters of H.265")
struct H265ParametersTests {
  private func read(_ text: String) -> H265Parameters? { H265Parameters(FormatParameters(parsing: text)) }

  @Test("absent parameters, as in an offer of Safari, mean profile Main, tier Main and level 3.1")
  func absent() throws {
    let plain = try #require(read(""))
    #expect(plain.profileID == 1 && !plain.isHighTier && plain.levelID == 93 && plain.isSupported)
    #expect(plain.answer.text == "level-id=180;profile-id=1;tier-flag=0;tx-mode=SRST")
  }

  @Test("an answer has the profile and tier of the offer, and level 6")
  func answer() throws {
    let offer = try #require(read("level-id=93; Profile-ID=2; tier-flag=1;tx-mode=srst;sprop-max-don-diff=0;x=y"))
    #expect(offer.isSupported && offer.levelID == 93)
    #expect(offer.answer.text == "level-id=180;profile-id=2;tier-flag=1;tx-mode=SRST")
    #expect(read(offer.answer.text) == offer.answer)
    #expect(offer.isSame(as: offer.answer))
    #expect(!offer.isSame(as: H265Parameters(profileID: 2)))
    #expect(!H265Parameters(profileID: 1).isSame(as: H265Parameters(profileID: 2)))
  }

  @Test(
    "other profiles, several streams and packets in another order than that of decoding are not supported",
    arguments: [
      ("profile-id=3", "profile-id 3"), ("profile-id=4", "profile-id 4"), ("profile-id=0", "profile-id 0"),
      ("tx-mode=MRST", "tx-mode MRST"), ("profile-id=1;sprop-max-don-diff=2", "sprop-max-don-diff 2"),
      ("profile-space=1", "profile-space 1"),
    ])
  func unsupported(text: String, obstacle: String) throws {
    #expect(try !#require(read(text)).isSupported)
    #expect(H265Parameters.obstacle(FormatParameters(parsing: text)) == obstacle)
  }

  @Test(
    "what is not of its form is rejected",
    arguments: [
      "profile-id=", "profile-id=-1", "profile-id=32", "profile-id=x", "profile-id=１", "tier-flag=2", "level-id=256",
      "level-id=99999999999999999999", "sprop-max-don-diff=32768", "profile-space=4",
    ])
  func malformed(text: String) {
    #expect(read(text) == nil)
  }

  @Test("parameter sets are read from their three parameters, in the order of decoding, and bad ones are left out")
  func parameterSets() {
    let parameters = FormatParameters(parsing: "sprop-pps=RAE=,!;sprop-sps= QgE= ;sprop-vps=QAE=,QAI=,")
    #expect(parameters.h265ParameterSets == [[0x40, 1], [0x40, 2], [0x42, 1], [0x44, 1]])
    #expect(FormatParameters(parsing: "sprop-parameter-sets=QAE=").h265ParameterSets.isEmpty)
    let many = Array(repeating: "QAE=", count: 40).joined(separator: ",")
    #expect(
      FormatParameters(parsing: "sprop-vps=\(many);sprop-sps=\(many)").h265ParameterSets.count
        == FormatParameters.maximumParameterSets)
  }
}
