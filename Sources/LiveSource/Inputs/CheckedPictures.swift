import Media

/// Pictures that were found good and can be opened as often as they are to be played.
struct CheckedPictures: Sendable {
  /// What they are, for example `Y4M 640x480 at 30 pictures a second`.
  var summary: String
  var size: PictureSize
  /// From one picture to the next, usually, in units of `FileTime.rate`; above zero.
  var interval: Int64
  var extent: Extent
  var remarks: [String] = []
  var open: @Sendable (CameraClock) throws(InputRefusal) -> any PictureInput
}
