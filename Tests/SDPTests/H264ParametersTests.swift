import SDP
import Testing

@Suite("Parameters of H.264")
struct H264ParametersTests {
  @Test(
    "the profile is profile_idc with the constraint bits of RFC 6184, table 5",
    arguments: [
      ("42e01f", .constrainedBaseline), ("42c00d", .constrainedBaseline), ("42f01f", .constrainedBaseline),
      ("42401f", .constrainedBaseline), ("4d801f", .constrainedBaseline), ("4de01f", .constrainedBaseline),
      ("58c01f", .constrainedBaseline), ("58f01f", .constrainedBaseline),
      ("42001f", .baseline), ("42801f", .baseline), ("42b01f", .baseline), ("58801f", .baseline), ("58a01f", .baseline),
      ("4d001f", .main), ("4D401F", .main), ("4d500b", .main),
      ("64001f", .high), ("640032", .high), ("640c1f", .constrainedHigh),
    ] as [(String, H264Profile)])
  func profiles(text: String, expected: H264Profile) throws {
    let parameters = try #require(read("profile-level-id=\(text)"))
    #expect(parameters.profile == expected)
    #expect(parameters.profileLevelID == text.lowercased())
  }

  @Test(
    "other profiles, such as High 10 and 4:4:4, are not supported",
    arguments: [
      "42011f", "42080d", "4d201f", "4d011f", "58001f", "58401f", "64081f", "64041f", "6e001f", "7a001f", "f4001f",
    ])
  func otherProfiles(text: String) throws {
    #expect(try #require(read("profile-level-id=\(text)")).profile == nil)
  }

  @Test("absent parameters have the values of the RFC and of libwebrtc, and names are compared without regard to case")
  func absent() throws {
    let plain = try #require(read(""))
    #expect(plain.profileLevelID == "42e01f" && plain.packetizationMode == 0 && !plain.allowsLevelAsymmetry)
    let other = try #require(read("Profile-Level-ID=4d0029; PACKETIZATION-MODE=1 ;x=y;Level-Asymmetry-Allowed=1"))
    #expect(other.profileLevelID == "4d0029" && other.packetizationMode == 1 && other.allowsLevelAsymmetry)
  }

  @Test(
    "what is not of its form is rejected",
    arguments: [
      "profile-level-id=", "profile-level-id=42e0", "profile-level-id=42e01f0", "profile-level-id=42e01g",
      "profile-level-id=+2e01f", "profile-level-id=４2e01f", "packetization-mode=3", "packetization-mode=-1",
      "packetization-mode=x", "packetization-mode=256", "packetization-mode=",
    ])
  func malformed(text: String) {
    #expect(read(text) == nil)
  }

  @Test(
    "an answer has their profile, and level 5.2 if they allow asymmetry, else their level",
    arguments: [
      ("profile-level-id=42001f;packetization-mode=1;level-asymmetry-allowed=1", "420034", 1, true),
      ("profile-level-id=42e01f;packetization-mode=0;level-asymmetry-allowed=1", "42e034", 0, true),
      ("profile-level-id=640c1f;packetization-mode=1;level-asymmetry-allowed=1", "640c34", 1, true),
      // Level 1b.
      ("profile-level-id=42f00b;packetization-mode=1;level-asymmetry-allowed=1", "42e034", 1, true),
      ("profile-level-id=64001f;packetization-mode=1", "64001f", 1, false),
      ("profile-level-id=64001f;packetization-mode=1;level-asymmetry-allowed=0", "64001f", 1, false),
      ("", "42e01f", 0, false),
    ] as [(String, String, UInt8, Bool)])
  func answers(offered: String, id: String, mode: UInt8, asymmetry: Bool) throws {
    let answer = try #require(read(offered)).answer
    #expect(answer.profileLevelID == id && answer.packetizationMode == mode)
    #expect(answer.allowsLevelAsymmetry == asymmetry)
    #expect(
      answer.text
        == (asymmetry ? "level-asymmetry-allowed=1;" : "") + "packetization-mode=\(mode);profile-level-id=\(id)")
  }

  @Test("parameter sets are read, with or without padding; those that cannot be read are left out")
  func parameterSets() {
    let format = FormatParameters(
      parsing:
        "packetization-mode=1;sprop-parameter-sets=Z0LADYyNQKD5APCIRqA=,aM48gA==, aM48gA ,,*,QQ=,A;profile-level-id=42c00d"
    )
    #expect(format.parameterSets.map { $0[0] & 0x1F } == [7, 8, 8])
    #expect(format.parameterSets.map(\.count) == [14, 4, 4])
    #expect(format["profile-level-id"] == "42c00d")
    #expect(FormatParameters(parsing: "sprop-parameter-sets=").parameterSets.isEmpty)
  }

  @Test("at most 32 parameter sets of 1 KiB each are read")
  func limits() {
    func encoded(_ bytes: Int) -> String {
      String(repeating: "Z0JC", count: bytes / 3) + (bytes % 3 == 1 ? "Zw==" : "")
    }
    let many = Array(repeating: "Z0JC", count: 100).joined(separator: ",")
    #expect(FormatParameters(parsing: "sprop-parameter-sets=\(many)").parameterSets.count == 32)
    let large = FormatParameters(parsing: "sprop-parameter-sets=\(encoded(1_024)),\(encoded(1_026)),\(encoded(3_000))")
    #expect(large.parameterSets.map(\.count) == [1_024])
  }

  private func read(_ text: String) -> H264Parameters? { H264Parameters(FormatParameters(parsing: text)) }
}
