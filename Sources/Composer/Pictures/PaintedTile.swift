package import Codecs
package import Composition
package import Media

/// A frame that a tile shows.
package struct TileFrame: Sendable {
  package let image: VideoFrame
  /// Differs from that of every earlier frame of the tile.
  package let version: Int

  package init(image: VideoFrame, version: Int) {
    (self.image, self.version) = (image, version)
  }
}

/// What is to be seen of a tile in an output frame.
package struct PaintedTile: Sendable {
  package var placement: TilePlacement
  package var look: PictureLook
  /// The newest frame; a name tile is drawn where there is none.
  package var frame: TileFrame?
  /// What is drawn at the lower left; nil for nothing.
  package var name: String?
  /// Whose tile it is: the initials of a name tile are made from it.
  package var label: String
  /// The user's id: the colour of a name tile is made from it.
  package var id: UntrustedText
  package var isSpeaking: Bool

  package init(
    placement: TilePlacement, look: PictureLook, frame: TileFrame?, name: String?, label: String,
    id: UntrustedText, isSpeaking: Bool = false
  ) {
    (self.placement, self.look, self.frame) = (placement, look, frame)
    (self.name, self.label, self.id, self.isSpeaking) = (name, label, id, isSpeaking)
  }
}

extension PaintedTile {
  /// All that the pixels of the tile depend on.
  struct Appearance: Hashable {
    let placement: TilePlacement
    let look: PictureLook
    /// Nil for a name tile.
    let version: Int?
    let name: UntrustedText?
    let label: UntrustedText
    let id: UntrustedText
    let isSpeaking: Bool
  }

  var appearance: Appearance {
    let version = look == .nameTile ? nil : frame?.version
    return Appearance(
      placement: placement, look: version == nil ? .nameTile : look, version: version,
      name: name.map { UntrustedText($0) }, label: UntrustedText(label), id: id, isSpeaking: isSpeaking)
  }

  var box: CanvasBox {
    CanvasBox(x: placement.x, y: placement.y, width: placement.width, height: placement.height)
  }
}
