import Composer
import Composition
import Foundation
import InspectionTestSupport
import Media
import NIOCore
import Recorder
import Testing

@Suite("the sound of a composition")
struct SoundMixerTests {
  /// Mixes in blocks of a length.
  private func mix(_ plan: CompositionPlan, gains: [Float] = [], block: Int = 4_800) -> (Stereo, SoundMixReport) {
    let mixer = SoundMixer(plan, gains: gains)
    var samples: [Float] = []
    while true {
      let next = mixer.next(block)
      if next.isEmpty { return (Stereo(samples), mixer.report) }
      samples += next
    }
  }

  @Test("One speaker alone is the decoded recording within one unit of 16 bits, with the codec's delay removed")
  func alone() async throws {
    let folder = try RecordedFolder()
    // Two channels, above -1 dBFS, but not so loud that decoders clip what the codec adds.
    let peer = try SoundPeer.opus("anna", seconds: 3, channels: 2) { time in
      [0.85 * sin(2 * .pi * 330 * time), 0.4 * sin(2 * .pi * 1_200 * time * (1 + time))]
    }
    try await folder.record([peer])
    let (mixed, report) = mix(folder.soundPlan())
    let decoded = try Stereo(decoding: folder.file("anna.ogg"))
    #expect((143_000...144_000).contains(mixed.left.count))
    let count = min(mixed.left.count, decoded.left.count)
    #expect(count > 143_000)
    #expect((0.892..<1).contains(mixed.left.max() ?? 0))
    #expect(mixed.difference(from: decoded, in: 0..<count) <= 1)
    #expect(report.greatestReduction == 0 && report.problems.isEmpty && report.undecodedPackets == [0])
    #expect(mixed.left.level(in: 0..<count) > 0.6)
  }

  @Test("Blocks of any length give the same samples") func blocks() async throws {
    let folder = try RecordedFolder()
    try await folder.record([
      try .tone("anna", seconds: 1.2, level: 0.8), try .tone("bert", from: 0.3, seconds: 1, level: 0.9),
    ])
    let plan = folder.soundPlan()
    let whole = mix(plan, block: 1_000_000).0.left
    #expect(whole.count == Int(plan.duration / 15))
    for block in [239, 960, 7_777] { #expect(mix(plan, block: block).0.left == whole) }
  }

  @Test("A user who comes later is placed to the sample, and mono is in both channels") func later() async throws {
    let folder = try RecordedFolder()
    try await folder.record([
      try .tone("anna", seconds: 4, frequency: 500), try .tone("bert", from: 1.5, seconds: 2, frequency: 800),
    ])
    let mixed = mix(folder.soundPlan()).0
    #expect(mixed.left == mixed.right)
    // 500 Hz and 800 Hz have whole numbers of periods in 0.1 s, so that each filters the other out.
    for start in stride(from: 4_800, to: 180_000, by: 24_000) {
      #expect(abs(mixed.left.delay(ofTone: 500, in: start..<start + 4_800)) < 0.5)
    }
    for start in stride(from: 76_800, to: 158_400, by: 24_000) {
      #expect(abs(mixed.left.delay(ofTone: 800, in: start..<start + 4_800)) < 0.5)
    }
    // The tone's end is that of its last packet.
    let alone = mix(CompositionPlan(keeping: "bert", of: folder.soundPlan())).0.left
    #expect(alone[..<72_000].allSatisfy { $0 == 0 })
    #expect(alone.level(in: 72_300..<73_300) > 0.15)
    #expect(alone.level(in: 166_000..<167_600) > 0.15)
    #expect(alone[168_000...].allSatisfy { $0 == 0 })
  }

  @Test(
    "A gap is silence of exact length, and what follows is where it was sent",
    arguments: [MediaGap.Reason.senderPaused, .dtx])
  func gap(reason: MediaGap.Reason) async throws {
    let folder = try RecordedFolder()
    try await folder.record([try SoundPeer.tone("anna", seconds: 4, frequency: 500).without(1..<2.5, reason)])
    #expect(try folder.manifest("anna.json").tracks.first?.gaps.map(\.reason) == [reason.rawValue])
    let mixed = mix(folder.soundPlan()).0.left
    // Opus is heard 312 samples earlier than its packets.
    #expect(mixed[48_000 - 312..<120_000 - 312].allSatisfy { $0 == 0 })
    #expect(mixed[48_000 - 312 - 100..<48_000 - 312].contains { $0 != 0 })
    #expect(mixed[120_000 - 312..<120_000].contains { $0 != 0 })
    for start in [9_600, 38_400, 124_800, 168_000] {
      #expect(abs(mixed.delay(ofTone: 500, in: start..<start + 4_800)) < 0.5)
    }
  }

  @Test("Lost sound is as the recorder repaired it, and silent where it was not") func loss() async throws {
    let folder = try RecordedFolder()
    try await folder.record([
      try SoundPeer.tone("anna", seconds: 3, frequency: 500).without(1..<1.06),
      try SoundPeer.tone("bert", seconds: 9, frequency: 500).without(1..<8),
    ])
    let anna = mix(CompositionPlan(keeping: "anna", of: folder.soundPlan())).0.left
    #expect(anna.level(in: 48_100..<49_000) > 0.1)
    #expect(abs(anna.delay(ofTone: 500, in: 96_000..<100_800)) < 0.5)
    let bert = mix(CompositionPlan(keeping: "bert", of: folder.soundPlan())).0.left
    let repaired = try #require(try folder.manifest("bert.json").tracks.first?.gaps.first?.repaired)
    #expect((4.9...5.1).contains(repaired))
    #expect(bert[6 * 48_000 + 960..<8 * 48_000 - 312].allSatisfy { $0 == 0 })
    #expect(abs(bert.delay(ofTone: 500, in: 8 * 48_000 + 9_600..<8 * 48_000 + 14_400)) < 0.5)
  }

  @Test("G.711 and G.722 are raised to 48 kHz, without delay", arguments: [Codec.pcmu, .g722])
  func telephone(codec: Codec) async throws {
    let folder = try RecordedFolder()
    let frequency = 800
    let peer = try SoundPeer.telephone("anna", codec, seconds: 3, frequency: frequency).without(1..<2, .senderPaused)
    try await folder.record([peer])
    let (mixed, report) = mix(folder.soundPlan())
    #expect(report.undecodedPackets == [0] && report.problems.isEmpty)
    let samples = mixed.left
    // ffmpeg's sine has an amplitude of 1/8. The filters of G.722 itself delay by 22 samples of 16 kHz, within half a period.
    for start in [4_800, 38_400, 100_800, 134_400] {
      #expect(abs(samples.level(in: start..<start + 4_800) - 0.125 / 2.0.squareRoot()) < 0.004)
      let delay = samples.delay(ofTone: Double(frequency), in: start..<start + 4_800)
      #expect(codec == .g722 ? abs(delay) < 30 : abs(delay) < 0.5)
    }
    // The packets before and after the gap are heard whole, and nothing in it.
    #expect(samples[48_000..<96_000].allSatisfy { $0 == 0 })
    #expect(samples.level(in: 47_900..<48_000) > 0.05 && samples.level(in: 96_000..<96_100) > 0.02)
  }

  @Test("The files of segments are one sound, as is a file with video in place of a missing one")
  func segments() async throws {
    let (one, several) = (try RecordedFolder(), try RecordedFolder())
    try await one.record(SyntheticPeer(seconds: 5))
    try await several.record(SyntheticPeer(seconds: 5), segment: SegmentLimit(duration: .seconds(2)))
    #expect(several.names.count { $0.hasSuffix(".ogg") } >= 2)
    let whole = mix(one.soundPlan()).0
    let joined = mix(several.soundPlan()).0
    let count = min(whole.left.count, joined.left.count)
    #expect(count > 238_000)
    #expect(whole.left[..<count] == joined.left[..<count])
    for name in several.names where name.hasSuffix(".ogg") { try several.remove(name) }
    let fromVideo = mix(several.soundPlan()).0
    #expect(fromVideo.left.count == joined.left.count)
    #expect(fromVideo.difference(from: joined, in: 0..<count) < 0.001)
    try one.remove("anna.webm")
    #expect(mix(one.soundPlan()).0.left == whole.left)
  }

  @Test("A part of a call is the same part of the whole") func part() async throws {
    let folder = try RecordedFolder()
    try await folder.record([
      try .tone("anna", seconds: 5, frequency: 510), try .tone("bert", from: 1, seconds: 3, frequency: 770),
    ])
    let whole = mix(folder.soundPlan()).0
    let part = mix(folder.soundPlan(2.5..<4)).0
    #expect(part.left.count == 72_000)
    let same = Stereo(left: Array(whole.left[120_000..<192_000]), right: Array(whole.right[120_000..<192_000]))
    #expect(part.difference(from: same, in: 0..<72_000) < 1)
  }

  @Test("Four users at full scale stay below -1 dBFS, and one who ends alone is as decoded") func chorus() async throws
  {
    let folder = try RecordedFolder()
    let peers = try [220, 330, 440, 550].enumerated().map { index, frequency in
      try SoundPeer.tone("user\(index)", seconds: index == 0 ? 3 : 2, frequency: Double(frequency), level: 0.98)
    }
    try await folder.record(peers)
    let plan = folder.soundPlan()
    let (mixed, report) = mix(plan)
    let limit = Float(pow(10, -1.0 / 20))
    #expect(mixed.left[..<(96_000 - 312)].allSatisfy { abs($0) < limit })
    #expect(report.greatestReduction > 9 && report.greatestReduction < 14)
    let first = try #require(plan.users.first).label
    let alone = mix(CompositionPlan(keeping: first, of: plan)).0
    // 100 ms and the look-ahead after the others.
    #expect(mixed.difference(from: alone, in: 96_000 + 5_100..<140_000) == 0)
  }

  @Test("Comfort noise between silences is silent, also where the manifest lists no more gaps") func comfortNoise()
    async throws
  {
    let folder = try RecordedFolder()
    var peer = try SoundPeer.tone("anna", seconds: 1, frequency: 500)
    let speech = peer.packets
    peer.reason = .dtx
    // Words of 180 ms and silences of 120 ms; then a packet each 400 ms, as encoders send while they send nothing.
    peer.packets = (0..<1_050).flatMap { _ in speech[10...18] + [ByteBuffer?](repeating: nil, count: 6) }
    let quiet = Double(peer.packets.count) / 50
    peer.packets += (0..<5).flatMap { _ in speech[10...10] + [ByteBuffer?](repeating: nil, count: 19) } + speech
    try await folder.record([peer])
    #expect(try folder.manifest("anna.json").tracks.first?.gaps.count == 1_000)
    let samples = mix(folder.soundPlan(quiet - 1..<quiet + 3)).0.left
    #expect(samples.level(in: 0..<47_000) > 0.05)
    #expect(samples[48_000..<144_000 - 312].allSatisfy { $0 == 0 })
    #expect(samples.level(in: 144_000..<191_000) > 0.15)
  }

  @Test("A microphone that is off for more than an hour is a gap like any other") func longGap() async throws {
    let folder = try RecordedFolder()
    var peer = try SoundPeer.telephone("anna", .pcmu, seconds: 2)
    peer.packets.insert(contentsOf: [ByteBuffer?](repeating: nil, count: 65 * 60 * 50), at: 50)
    peer.reason = .muted
    try await folder.record([peer])
    let (part, report) = mix(folder.soundPlan(3_900..<3_902))
    #expect(report.problems.isEmpty)
    #expect(part.left[..<48_000].allSatisfy { $0 == 0 })
    #expect(part.left.level(in: 48_100..<90_000) > 0.08)
  }

  @Test("A damaged file is a sentence, and the others are heard") func damaged() async throws {
    let folder = try RecordedFolder()
    try await folder.record([
      try .tone("anna", seconds: 1, frequency: 500), try .tone("bert", seconds: 1, frequency: 800),
    ])
    try folder.store(Array("OggS, but nothing else".utf8), as: "bert.ogg")
    let (mixed, report) = mix(folder.soundPlan())
    #expect(report.problems.count == 1)
    #expect(report.problems.first?.hasPrefix("“\(folder.file("bert.ogg"))” cannot be read: ") == true)
    #expect(abs(mixed.left.delay(ofTone: 500, in: 9_600..<14_400)) < 0.5)
    try folder.remove("bert.ogg")
    #expect(mix(folder.soundPlan()).0.left == mixed.left)
  }

  @Test("A packet that is not Opus is silence, and counted") func undecodable() async throws {
    let folder = try RecordedFolder()
    var peer = try SoundPeer.tone("anna", seconds: 1)
    // A packet of one frame whose length is right, of damaged content, decodes to something; one that says 63 frames does not.
    peer.packets[20] = ByteBuffer(bytes: [0xFF, 0x3F, 1, 2, 3])
    try await folder.record([peer])
    let report = mix(folder.soundPlan()).1
    #expect(report.problems.isEmpty)
    #expect(mix(folder.soundPlan()).0.left.level(in: 38_400..<43_200) > 0.15)
  }
}

extension CompositionPlan {
  /// The plan with the sound of one user only.
  init(keeping label: String, of plan: CompositionPlan) {
    self = plan
    sounds = plan.sounds.filter { plan.users[$0.user].label == label }
  }
}

extension Stereo {
  init(left: [Float], right: [Float]) {
    self.init(zip(left, right).flatMap { [$0, $1] })
  }
}

extension RecordedFolder {
  func manifest(_ name: String) throws -> RecordingManifest { try RecordingManifest(parsing: bytes(name)) }
}
