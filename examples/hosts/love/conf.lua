function love.conf(t)
  t.identity, t.version = "damo-cloth", "11.4"
  t.window.title, t.window.width, t.window.height = "damo: a cloth that learns to reach a light", 960, 600
  t.window.msaa, t.window.depth, t.window.vsync = 4, 24, 1
  t.modules.audio, t.modules.joystick, t.modules.physics = false, false, false
end
