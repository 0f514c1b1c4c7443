import RTP
import Testing

/// A made-up encoder's choice of what each frame depends on, and what it says of that in its packets.
enum LayeredStream: String, CaseIterable, CustomTestStringConvertible {
  /// Each frame depends on the one before it.
  case plain
  /// The same, with frame ID of 7 bits that wrap.
  case shortIDs
  /// The same without frame ID: nothing can be known after a loss.
  case noIDs
  /// Two temporal layers, the upper one in chains of four, as browsers do it.
  case twoLayers
  /// Three temporal layers 0 2 1 2; no frame depends on one of the highest.
  case threeLayers
  /// The same without frame ID: only the base layer's count tells.
  case threeLayersWithoutIDs

  var testDescription: String { rawValue }

  static let keyframeEvery = 32

  func isKeyframe(_ number: Int) -> Bool { number % Self.keyframeEvery == 0 }

  func layer(of number: Int) -> Int {
    switch self {
    case .plain, .shortIDs, .noIDs: 0
    case .twoLayers: number % 2
    case .threeLayers, .threeLayersWithoutIDs: [0, 2, 1, 2][number % 4]
    }
  }

  /// The frames that this one is predicted from.
  func references(of number: Int) -> [Int] {
    if isKeyframe(number) { return [] }
    switch self {
    case .plain, .shortIDs, .noIDs: return [number - 1]
    case .twoLayers:
      if number % 2 == 0 { return [number - 2] }
      return number % 8 == 1 ? [number - 1] : [number - 1, number - 2]
    case .threeLayers, .threeLayersWithoutIDs:
      return [[number - 4], [number - 1], [number - 2], [number - 3, number - 1]][number % 4]
    }
  }

  /// All frames that cannot be decoded without this one, itself included, of the first `count`.
  func dependents(of number: Int, count: Int) -> Set<Int> {
    var lost: Set<Int> = [number]
    for later in number..<count where references(of: later).contains(where: lost.contains) { lost.insert(later) }
    return lost
  }

  /// What each of the frame's packets says.
  func describe(_ number: Int, _ descriptor: inout VP8PayloadDescriptor) {
    switch self {
    case .plain: break
    case .shortIDs: descriptor.pictureID = .init(UInt16(number & 0x7F), isLong: false)
    case .noIDs: descriptor.pictureID = nil
    case .twoLayers, .threeLayers, .threeLayersWithoutIDs:
      let layer = layer(of: number)
      descriptor.baseLayerIndex = UInt8(truncatingIfNeeded: self == .twoLayers ? number / 2 : number / 4)
      descriptor.temporalLayer = .init(
        index: UInt8(layer),
        dependsOnBaseOnly: layer > 0 && references(of: number).allSatisfy { self.layer(of: $0) == 0 })
      descriptor.isNonReference = self == .twoLayers ? number % 8 == 7 : layer == 2
      if self == .threeLayersWithoutIDs { descriptor.pictureID = nil }
    }
  }
}
